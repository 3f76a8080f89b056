"""The page of the Bedrock stand-in: what it is, and the rules by which it answers."""

from __future__ import annotations

from html import escape

from local.model_commands import EXAMPLES
from local.page import page

_BODY = """
<header><h1>Local model</h1><p class="note">This is a local stand-in for Amazon Bedrock.
It is <strong>no LLM</strong>: it answers by the fixed rules below,
and says so in every answer that no test has scripted.</p></header>
<main>
<h2>What it understands</h2>
<ul>{examples}</ul>
<p>Several commands in one message become several tool calls of one turn. Only tools that the agent
offers are called. After the tool results it sums them up, one line each, and quotes errors.</p>
<h2>What it refuses</h2>
<p>Conversations that Bedrock Converse refuses, with the same errors: roles that do not alternate,
tool calls without exactly one result each, blank texts, reasoning that was changed or that belongs
to another conversation.</p>
<h2>For tests</h2>
<ul>
<li><code>POST /script</code> lays down turns for sessions whose first text contains a given text;
<code>DELETE /script</code> forgets them.</li>
<li><code>GET /calls</code> lists the requests it got; <code>?requests=1</code> shows them whole;
<code>DELETE /calls</code> forgets them.</li>
</ul>
</main>
"""


def render() -> str:
    """Return the page."""
    examples = "".join(f"<li><code>{escape(each)}</code></li>" for each in EXAMPLES)
    return page("Local model", _BODY.format(examples=examples))
