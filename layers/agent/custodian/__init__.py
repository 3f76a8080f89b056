"""The example agent: a custodian of the files in one S3 bucket. Copy it, or put your own beside it."""

from __future__ import annotations

from custodian.tools import delete_file, list_files, move_file, read_file
from pausepoint import Agent, ask_human
from pausepoint.models.bedrock import BedrockModel

agent = Agent(
    name="custodian",
    instructions=(
        "You look after the files of one storage bucket. Use the tools to do what the user asks, and nothing "
        "beyond it. Some calls wait for a person's approval: the result tells you what they decided. If they "
        "rejected a call, say so and give their reason; do not look for a way around it. Ask a person where only "
        "they can know."
    ),
    model=BedrockModel(),
    tools=[list_files, read_file, delete_file, move_file, ask_human],
)

__all__ = ["agent"]
