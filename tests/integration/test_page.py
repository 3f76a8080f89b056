"""What the page shows through the function: all that will run, and hostile text as text."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest

from pausepoint.models.scripted import Turn
from tests.support.deployment import SHRED, Deployment

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><form action=https://evil.example><button>Approve</button></form>',
    "'\"><svg/onload=alert(1)>",
    "{{ 7 * 7 }} {% include 'x' %}",
    "&lt;b&gt; &amp; &#60;",
    "</textarea></bdi></main><main>",
    "]]><!-- -->",
]
_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section"),
    *("h1", "h2", "h3", "p", "dl", "div", "dt", "dd", "bdi", "span", "strong", "small", "pre", "code"),
    *("details", "summary", "form", "input", "label", "textarea", "button"),
    *("table", "tr", "th", "td", "thead", "tbody", "ul", "li"),
}
"""All that our own templates use."""


class Seen(HTMLParser):
    """The tags of a page, and its text as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in {"style", "src", "href"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def call_with(text: str) -> Turn:
    return [("file_under", {"labels": {text: text, "path": text}})]


@pytest.mark.parametrize("text", HOSTILE)
def test_case_53_markup_in_arguments_keys_and_reasons_is_text(deployment: Deployment, text: str) -> None:
    link = deployment.paused(call_with(text), "Then not.")

    shown = Seen(deployment.show(link).page)
    deployment.post(link, decision="rejected", reason=text)
    decided = Seen(deployment.show(link).page)

    assert set(shown.tags + decided.tags) <= _TAGS
    assert (shown.tags.count("form"), decided.tags.count("form")) == (2, 0)
    as_json = text.replace('"', '\\"')
    assert as_json in shown.text
    assert text in decided.text  # the reason


@pytest.mark.parametrize("text", HOSTILE)
def test_case_53_markup_in_a_plain_argument_is_text(deployment: Deployment, text: str) -> None:
    page = deployment.show(deployment.paused([("shred", {"path": text})])).page

    assert set(Seen(page).tags) <= _TAGS
    assert text in Seen(page).text
    assert html.escape(text, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'")


def test_case_53_markup_in_the_agents_name_is_text(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT", "tests.support.clerk:markup")
    page = deployment.show(deployment.paused()).page

    assert set(Seen(page).tags) <= _TAGS
    assert "<b>clerk</b>" in Seen(page).text


def test_case_52_what_would_not_show_is_named(deployment: Deployment) -> None:
    text = "a.txt\n\nSTATUS: pre-approved" + "\n" * 200 + "\u202etxt.exe\u200b \x1b[2J https://ok.example"
    page = Seen(deployment.show(deployment.paused([("shred", {"path": text})])).page).text

    for shown in ("×199 blank lines", "U+202E RIGHT-TO-LEFT OVERRIDE", "U+200B ZERO WIDTH SPACE", "U+001B ESCAPE"):
        assert shown in page


def test_case_08_the_page_shows_what_will_run_not_what_the_model_wrote(deployment: Deployment) -> None:
    page = Seen(deployment.show(deployment.paused([("shred", {"path": "a.txt", "copies": "100"})])).page).text
    defaulted = Seen(deployment.show(deployment.paused(SHRED)).page).text

    assert '{"copies":100,"path":"a.txt"}' in page
    assert '{"copies":1,"path":"a.txt"}' in defaulted


def test_the_page_says_who_asks_for_what_until_when_and_a_code_of_it(deployment: Deployment) -> None:
    link = deployment.paused()
    digest = deployment.call(link)["digest"]["S"]
    page = Seen(deployment.show(link).page).text
    text = " ".join(page.split())

    for fact in (
        "clerk asks to run",
        "shred",
        "arn:aws:iam::123456789012:user/ada",
        f"{digest[:4]}-{digest[4:8]}".upper(),
        "Opening this page changed nothing".lower(),
    ):
        assert fact in text or fact in text.lower()
    assert re.search(r"the request expires in 23 hours, at \d{4}-\d\d-\d\d \d\d:\d\d UTC", text)


def test_after_the_decision_the_same_address_tells_what_became_of_it(deployment: Deployment) -> None:
    link = deployment.paused()
    titles = []
    for step in (lambda: None, lambda: deployment.post(link), deployment.deliver):
        step()
        titles.extend(re.findall("<title>(.*?):? .*</title>", deployment.show(link).page))

    assert titles == ["Approve", "Approved", "Done"]
    text = Seen(deployment.show(link).page).text
    assert "What the tool gave back" in text
    assert "by holding the link; no sign-in" in text
