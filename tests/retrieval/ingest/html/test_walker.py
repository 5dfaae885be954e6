"""Rendered blocks: text as the browser shows it, in the blocks in which it can be searched."""

from __future__ import annotations

import pytest

from retrieval.ingest.base import BlockKind
from tests.retrieval.ingest.documents import page, texts


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<p>one\n  two\t three</p>", ["one two three"]),
        ("<p>no&nbsp;break</p>", ["no\xa0break"]),
        ("<p>a<b>b</b><i> c</i> <code>d</code>e</p>", ["ab c de"]),
        ("<p>“Curly” ‘quotes’ — aren’t folded…</p>", ["“Curly” ‘quotes’ — aren’t folded…"]),
        ("<p>Donau&shy;dampf&shy;schiff</p>", ["Donau\xaddampf\xadschiff"]),
        ("<p>zero&ZeroWidthSpace;width</p>", ["zero\u200bwidth"]),
        ("<p>first<br>second<br/> third</p>", ["first\nsecond\nthird"]),
        ("<p>long<wbr>word</p>", ["longword"]),
        ("<p>before <img src=x> after</p>", ["before  after"]),
        ("<p>before<img src=x>after</p>", ["before  after"]),
        ("<p>x<sup>2</sup></p>", ["x2"]),
        ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>だ</p>", ["漢字だ"]),
        ("<p>where <math><mi>a</mi><mo>=</mo><mi>b</mi></math> holds</p>", ["where  a=b  holds"]),
        ("<p>press <button>Save</button> now</p>", ["press", "now"]),
        ("<p>中文在\n源代码里换行</p>", ["中文在源代码里换行"]),
        ("<p>한국어는\n띄어쓰기</p>", ["한국어는 띄어쓰기"]),
        ("<p>shown<span hidden>no</span><span style='display: none'>no</span></p>", ["shown"]),
        ("<p>a</p>&#32;<p>&nbsp;</p><p>&ZeroWidthSpace;</p><p>b</p>", ["a", "b"]),
    ],
)
def test_a_block_holds_the_text_that_a_browser_renders(markup: str, shown: list[str]) -> None:
    assert texts(page(f"<main>{markup}</main>")) == shown


def test_browsers_disagree_on_seams_so_no_term_may_cross_them() -> None:
    document = page("<main><p>中文\n换行</p><p>日本語の<ruby>漢<rt>かん</rt>字</ruby>だ</p></main>")
    assert texts(document) == ["中文换行", "日本語の漢字だ"]
    assert document.visible == ("中文\n换行", "日本語の\n漢\n字\nだ")


def test_code_keeps_its_lines_and_indentation() -> None:
    document = page("<main><pre>\n  def f():\n\n      return  1  \n</pre></main>")
    (block,) = document.blocks
    assert block.kind is BlockKind.CODE
    assert block.text == "  def f():\n\n      return  1"


def test_highlighted_code_is_joined_without_extra_spaces() -> None:
    code = '<pre><span class="k">def</span> <span class="nf">f</span><span>():</span>\n\n</pre>'
    assert texts(page(f"<main>{code}</main>")) == ["def f():"]


def test_text_beside_blocks_is_a_block_of_its_own() -> None:
    document = page("<main><div>before<p>inner</p>between<ul><li>item</li></ul>after</div></main>")
    assert texts(document) == ["before", "inner", "between", "item", "after"]


@pytest.mark.parametrize(
    ("markup", "kinds"),
    [
        ("<ul><li>a<li><p>b</p></ul>", {"a": BlockKind.LIST_ITEM, "b": BlockKind.LIST_ITEM}),
        ("<table><tr><th>a<td>b</table>", {"a": BlockKind.TABLE_CELL, "b": BlockKind.TABLE_CELL}),
        ("<dl><dt>a<dd>b</dl>", {"a": BlockKind.TERM, "b": BlockKind.PARAGRAPH}),
        (
            "<figure><img><figcaption>a</figcaption></figure>",
            {"a": BlockKind.PARAGRAPH},
        ),
        (
            "<details><summary>a</summary>b</details>",
            {"a": BlockKind.PARAGRAPH, "b": BlockKind.PARAGRAPH},
        ),
        ("<h4>a</h4>", {"a": BlockKind.HEADING}),
    ],
)
def test_blocks_know_what_they_are(markup: str, kinds: dict[str, BlockKind]) -> None:
    document = page(f"<main>{markup}</main>")
    assert {block.text: block.kind for block in document.blocks} == kinds


def test_cells_belong_to_their_row_and_definitions_to_their_term() -> None:
    rows = "<table><tr><td>a<td>b<tr><td><td>c<td>d</table>"
    document = page(f"<main>{rows}<dl><dt>t<dd>u<p>v</p><dt>w<dd>x</dl></main>")
    joined = {block.text for block in document.blocks if block.joined}
    assert joined == {"b", "d", "u", "x"}


def test_headings_give_the_section_path() -> None:
    document = page(
        "<main><p>0</p><h1>A</h1><p>1</p><h2>B</h2><p>2</p><h3>C</h3><p>3</p><h2>D</h2><p>4</p>"
        "<h1>E</h1><p>5</p></main>"
    )
    paths = {block.text: block.section for block in document.blocks if block.text.isdigit()}
    assert paths == {
        "0": (),
        "1": ("A",),
        "2": ("A", "B"),
        "3": ("A", "B", "C"),
        "4": ("A", "D"),
        "5": ("E",),
    }


@pytest.mark.parametrize(
    "markup",
    [
        '<section id="here"><span id="alias"></span><h2>T</h2><p>x</p></section>',
        '<div id="top"><div class="section" id="here"><h2>T</h2><p>x</p></div></div>',
        '<h2 id="here">T</h2><p>x</p>',
        '<a name="here"></a><h2>T</h2><p>x</p>',
        '<h2><a id="here"></a>T</h2><p>x</p>',
        '<h2><span class="mw-headline" id="here">T</span></h2><p>x</p>',
        '<p>before</p><span id="here"></span>\n<h2>T</h2><p>x</p>',
        '<h2><span id="here"></span>T</h2><p>x</p>',
        '<h2 id="other">T</h2><p id="here">x</p>',
        '<h2 id="other">T</h2><dl><dt id="here">t</dt><dd>x</dd></dl>',
        '<h2 id="other">T</h2><dl><dt><a name="here"></a>t</dt><dd><p>x</p></dd></dl>',
    ],
)
def test_the_anchor_is_the_nearest_id_that_a_link_can_jump_to(markup: str) -> None:
    document = page(f"<main>{markup}</main>")
    assert {block.text: block.anchor for block in document.blocks}["x"] == "here"


def test_an_anchor_ends_with_what_it_names() -> None:
    document = page(
        '<main><h2 id="h">T</h2><dl><dt id="outer">o<dd><dl><dt id="inner">i<dd>1</dl><p>2</p></dl>'
        "<p>3</p></main>"
    )
    anchors = {block.text: block.anchor for block in document.blocks if block.text.isdigit()}
    assert anchors == {"1": "inner", "2": "outer", "3": "h"}


@pytest.mark.parametrize(
    "link",
    [
        '<a class="headerlink" href="#t" title="Permalink">¶</a>',
        '<a href="#t">#</a>',
        '<a href="#t" class="anchor">§</a>',
        '<a class="hash-link" href="#t">Direct link to Title</a>',
        '<a class="anchor" href="#t"><svg><path/></svg></a>',
        '<span class="mw-editsection">[<a href="/edit">edit</a>]</span>',
    ],
)
def test_permalink_marks_are_not_part_of_a_heading(link: str) -> None:
    document = page(f"<main><h2>Title{link}</h2><p>x</p></main>")
    assert document.blocks[0].text == "Title"
    assert document.visible == ("Title", "x")


def test_a_permalink_mark_may_stand_beside_its_heading() -> None:
    mark = '<a href="#impl" class="anchor">§</a>'
    document = page(f'<main><section id="impl">{mark}<h3>Title</h3></section></main>')
    assert document.visible == ("Title",)


def test_a_heading_that_is_a_link_to_itself_keeps_its_text() -> None:
    document = page('<main><h2 id="t"><a class="header" href="#t">Title</a></h2></main>')
    assert texts(document) == ["Title"]


@pytest.mark.parametrize(
    "markup",
    [
        "<nav>Menu</nav>",
        "<footer>Imprint</footer>",
        '<div role="navigation">Menu</div>',
        '<div class="toc">Contents</div>',
        '<aside><a href="/a">Related</a> <a href="/b">Pages</a></aside>',
        '<a href="#main">Skip to main content</a>',
        '<p><a href="/edit">Edit this page on GitHub</a></p>',
        '<p><a href="_sources/x.txt">Show Source</a></p>',
        "<button>Copy</button>",
        '<pre class="linenos">1\n2</pre>',
    ],
)
def test_boilerplate_is_visible_but_no_content(markup: str) -> None:
    document = page(f"<main>{markup}<p>Content of the page.</p></main>")
    assert texts(document) == ["Content of the page."]
    assert document.visible is not None
    assert len(document.visible) == 2


@pytest.mark.parametrize(
    "markup",
    [
        "<script>x()</script>",
        "<style>p {}</style>",
        "<noscript>Enable scripts</noscript>",
        "<template><p>x</p></template>",
        "<iframe>x</iframe>",
        "<select><option>x</select>",
        "<input type=hidden value=x><input type=password value=x><input type=checkbox value=x>",
        "<div hidden>x<p hidden>y</p></div>",
        '<div style="color:red;DISPLAY : none">x</div>',
        '<div style="content-visibility: hidden">x</div>',
        "<div inert>x</div>",
        "<div popover>x</div>",
        "<dialog><p>x</p></dialog>",
        "<svg><title>x</title><desc>x</desc><path/></svg>",
        "<!-- x -->",
    ],
)
def test_what_is_not_rendered_is_not_visible(markup: str) -> None:
    assert page(f"<main>{markup}<p>shown</p></main>").visible == ("shown",)


@pytest.mark.parametrize(
    ("markup", "visible"),
    [
        ("<textarea>x y</textarea>", ["x y"]),
        ("<textarea placeholder=x></textarea>", ["x"]),
        ("<input value=x placeholder=y>", ["x"]),
        ("<input type=search placeholder=x>", ["x"]),
        ("<input type=submit value=x>", ["x"]),
        ("<select size=3><option>x<option>y</select>", ["x", "y"]),
        ("<select multiple><option>x<option>y</select>", ["x", "y"]),
        ("<svg><g><text>x</text><text><tspan>y</tspan> z</text></g></svg>", ["x", "y z"]),
        ("<svg><foreignObject><div>x</div><div>y</div></foreignObject></svg>", ["x", "y"]),
    ],
)
def test_text_in_fields_and_drawings_is_visible_but_no_content(
    markup: str, visible: list[str]
) -> None:
    document = page(f"<main><p>Before {markup} after</p></main>")
    assert document.visible == (*visible, "Before  after")
    assert texts(document) == ["Before  after"]


def test_lines_that_an_example_hides_are_not_read() -> None:
    document = page(
        "<main><pre><code><span class=boring>fn main() {\n</span>let x = 1;\n"
        "<span class=boring>}</span></code></pre></main>"
    )
    assert texts(document) == ["let x = 1;"]


@pytest.mark.parametrize(
    ("markup", "text", "parts"),
    [
        ("Press <kbd>Ctrl</kbd>+<kbd>C</kbd> now", "Press Ctrl+C now", ["Press", "Ctrl", "+", "C"]),
        ("<a class='btn b'>One</a> <a class='btn'>Two</a>", "One Two", ["One", "Two"]),
        ("f <small class=doc-label><code>new</code></small> g", "f new g", ["f", "new", "g"]),
        ("f <kbd> x </kbd> g", "f x g", ["f", "x", "g"]),
        ("[1]<span class=backrefs>(<a href=#a>1</a>)</span>", "[1](1)", ["[1]", "(1)"]),
    ],
)
def test_what_themes_make_a_box_reads_on_but_no_term_crosses_its_edge(
    markup: str, text: str, parts: list[str]
) -> None:
    document = page(f"<main><p>{markup}</p></main>")
    assert texts(document) == [text]
    assert document.visible is not None
    lines = [line.strip() for line in document.visible[0].split("\n")]
    assert [line for line in lines if line][: len(parts)] == parts


def test_what_a_search_can_reveal_is_visible() -> None:
    document = page('<main><p hidden="until-found">a</p><details>b</details></main>')
    assert document.visible == ("a", "b")


def test_notes_and_the_title_within_the_content_are_content() -> None:
    document = page(
        "<main><article><header><h1>Title</h1></header><aside>Mind this.</aside></article></main>"
    )
    assert texts(document) == ["Title", "Mind this."]


def test_visible_holds_every_block_in_page_order_and_blocks_know_their_place() -> None:
    document = page(
        "<nav>Menu</nav><main><h1>T</h1><nav>On this page</nav><p>x</p></main><footer>F</footer>"
    )
    assert document.visible == ("Menu", "T", "On this page", "x", "F")
    for block in document.blocks:
        assert block.visible_at is not None
        assert document.visible[block.visible_at] == block.text
