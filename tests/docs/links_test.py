"""Every relative link of a page leads to a file, every anchor to a heading, and every path that is
named in code exists."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:h|cpp|md|py|ipynb|txt|cmake))?)`")
MADE_BY_BUILDS = ("build", "runs")


def anchor(heading):
    """GitHub's way from a heading to an anchor."""
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)}


def problems(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in LINK.findall(text):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists():
            yield f"the link to {target} leads nowhere"
        elif fragment and file.suffix == ".md" and fragment not in anchors(file):
            yield f"{path or page.name} has no heading for #{fragment}"
    for path in PATH.findall(text):
        if path.split("/")[0] in MADE_BY_BUILDS:
            continue
        if not (ROOT / path).exists() and not (page.parent / path).exists():
            yield f"{path} does not exist"


def main():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/*.md"), *ROOT.glob("docs/*/*.md")]
    found = [f"{page.relative_to(ROOT)}: {problem}" for page in sorted(pages) for problem in problems(page)]
    if len(pages) < 5:
        found.append(f"only {len(pages)} pages were looked at")
    if found:
        sys.exit("\n".join(found))
    print(f"{len(pages)} pages")


if __name__ == "__main__":
    main()
