"""The code of the documentation runs, prints what the pages say, and draws the pictures that they show.

``python python/tests/test_pages.py`` draws the pictures of the gallery anew.
"""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[2]
GALLERY = sorted((ROOT / "docs/gallery").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "docs/python.md", ROOT / "docs/coming-from.md", *GALLERY]

#: A page that only lists others: it needs no block.
INDEX = ROOT / "docs/gallery/README.md"

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")

#: A picture is the same file whenever it is drawn.
DRAWING = {"svg.hashsalt": "nonneg", "svg.fonttype": "path"}


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(text):
    """The Python blocks of a page: (line of the first statement, code, what it must print or None)."""
    fences = list(FENCE.finditer(text))
    for k, fence in enumerate(fences):
        if fence[1] != "python":
            continue
        after = fences[k + 1] if k + 1 < len(fences) else None
        shown = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
        yield text.count("\n", 0, fence.start(2)), fence[2], after[2] if shown else None


def run(page):
    """Runs a page in the current folder. Yields (line, what a block printed, what it must print or None)."""
    matplotlib.use("Agg")
    namespace = {"__name__": "__main__"}
    with matplotlib.rc_context(DRAWING):
        for line, code, expected in blocks(page.read_text(encoding="utf-8")):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + code, page, "exec"), namespace)
            yield line, printed.getvalue(), expected


def pictures(page):
    """The pictures of a page that are files of the repository."""
    return [target for target in PICTURE.findall(page.read_text(encoding="utf-8")) if "://" not in target]


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    yield tmp_path
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_prints_what_the_page_says(page, empty_folder):
    count = 0
    for line, printed, expected in run(page):
        count += 1
        if expected is not None:
            assert printed == expected, f"{name_of(page)}, block at line {line + 1}"
    assert count > 0 or page == INDEX, f"{name_of(page)} has no Python block"
    if page in GALLERY:
        missing = [target for target in pictures(page) if "/" not in target and not Path(target).is_file()]
        assert not missing, f"{name_of(page)} shows pictures that its code does not write"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pictures_are_there(page):
    missing = [target for target in pictures(page) if not (page.parent / target).is_file()]
    assert not missing, f"{name_of(page)} shows pictures that are not in the repository"


@pytest.mark.parametrize("page", [page for page in GALLERY if page != INDEX], ids=name_of)
def test_a_page_of_the_gallery_has_a_picture_and_is_in_the_index(page):
    assert pictures(page)
    assert f"({page.name})" in INDEX.read_text(encoding="utf-8")


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s#]+)[^)\s]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append((name_of(page), target))
    assert not broken


def test_blocks_are_found():
    text = (
        "```python\nprint(1)\n```\n\n```text\n1\n```\n```python\nx = 2\n```\nwords\n```text\nno output\n```\n```sh\nls\n```\n"
    )
    assert list(blocks(text)) == [(1, "print(1)\n", "1\n"), (8, "x = 2\n", None)]


def draw_gallery():
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for page in GALLERY:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for line, printed, expected in run(page):
                if expected is not None and printed != expected:
                    print(f"{name_of(page)}, block at line {line + 1} prints\n{printed}")
            for target in pictures(page):
                if Path(target).is_file():
                    (page.parent / target).write_bytes(Path(target).read_bytes())
            os.chdir(ROOT)


if __name__ == "__main__":
    draw_gallery()
