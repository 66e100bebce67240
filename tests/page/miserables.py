"""What a person does with Les Misérables: search, neighbours, table, path, algorithms, pictures, links, keys."""

import csv
import io
import re
import shlex
from pathlib import Path

import networkx as nx

from browser import Screen
from databases import esker
from served import Served


def first_picture(screen: Screen, served: Served, graph: nx.Graph) -> None:
    screen.open(served.link)
    measure = screen.shown()
    assert f"all {len(graph)} vertices shown" in measure, measure
    assert screen.edges() == graph.size(), measure
    assert screen.page.locator(".alarm").is_hidden(), screen.text(".alarm")
    assert "token" not in screen.page.url, "the token stays in the address"
    assert len(screen.page.locator("#legend li").all()) > 2, "communities without a legend"
    screen.picture("whole")


def times(screen: Screen) -> str:
    """Milliseconds from the request of the page to its first paint, and to the picture."""
    entries = screen.page.evaluate("""() => ({
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
        picture: performance.getEntriesByName('picture')[0]?.startTime })""")
    return f"first paint after {entries['paint']:.0f} ms, picture after {entries['picture']:.0f} ms"


def search_and_neighbours(screen: Screen, graph: nx.Graph) -> None:
    screen.search("Valj")
    screen.says("#vertex-id", "Valjean")
    degree = graph.degree("Valjean")
    screen.says("#vertex .facts", str(degree))
    screen.says("#neighbors-shown", f"all {degree} shown")
    screen.picture("selected")
    screen.unfold("#drawing")
    screen.page.get_by_label("Neighbours at most").select_option("25")
    screen.says("#neighbors-shown", f"25 of {degree} shown")
    screen.page.get_by_role("list", name="Neighbours").get_by_role("button", name="Javert").click()
    screen.says("#vertex-id", "Javert")


def around_and_expand(screen: Screen, graph: nx.Graph) -> None:
    screen.search("Napoleon")
    screen.page.click("#around")
    screen.says("#vertex-id", "Napoleon")
    screen.until("the picture around Napoleon has other vertices", lambda: screen.vertices() == 1 + graph.degree("Napoleon"))
    screen.search("Myriel")
    screen.page.click("#expand")
    expected = {"Napoleon", "Myriel", *graph["Myriel"]}
    screen.until("an expansion gives other vertices", lambda: screen.vertices() == len(expected))
    assert screen.edges() == graph.subgraph(expected).size(), "edges among the neighbours are missing"
    screen.picture("expanded")
    # A click on a vertex of the picture selects it: Myriel in the middle, another one selected before.
    screen.page.keyboard.press("Escape")
    screen.search("Myriel")
    screen.page.locator("#picture").focus()
    screen.page.keyboard.press("c")
    screen.page.wait_for_timeout(500)
    screen.page.keyboard.press("ArrowLeft")
    screen.until("an arrow key selects no other vertex", lambda: screen.text("#vertex-id") != "Myriel")
    box = screen.page.locator("#picture").bounding_box()
    screen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    screen.says("#vertex-id", "Myriel")
    screen.page.click("#whole")
    screen.until("the whole graph does not come back", lambda: screen.vertices() == len(graph))


def table(screen: Screen, graph: nx.Graph) -> None:
    screen.page.get_by_role("button", name="Both").click()
    rows = screen.page.locator("#table tbody tr")
    screen.until("the table has no row for each vertex", lambda: rows.count() == len(graph))
    assert rows.first.inner_text().startswith("Valjean"), "the table is not sorted by degree"
    screen.picture("both")
    rows.nth(1).get_by_role("button").click()
    screen.says("#vertex-id", rows.nth(1).get_by_role("button").inner_text())
    screen.page.keyboard.press("t")
    assert screen.page.locator("#picture").is_hidden(), "the table alone is not alone"
    screen.page.keyboard.press("t")
    assert screen.page.locator("#table").is_hidden()


def path(screen: Screen, graph: nx.Graph) -> None:
    screen.unfold("#path")
    for field, name in [("#path-from", "Napoleon"), ("#path-to", "Gavroche")]:
        screen.page.locator(field).fill(name)
        screen.page.keyboard.press("Enter")
    steps = nx.shortest_path_length(graph, "Napoleon", "Gavroche")
    screen.says("#path-found", f"{steps} steps")
    screen.picture("path")
    screen.page.locator("#path").get_by_role("button", name="Clear").click()


def suggestions(screen: Screen, graph: nx.Graph) -> None:
    """The list of ids lies over no button, and stays closed after Escape."""
    page = screen.page
    page.locator("#path-from").fill("Napoleon")
    for words, several in [("M", 5), ("Gavroche", 1)]:
        page.locator("#path-to").fill("")
        page.locator("#path-to").press_sequentially(words)
        options = page.locator("#path [role=listbox]:visible [role=option]")
        screen.until("no ids are listed", lambda: options.count() >= several and options.first.inner_text().startswith(words))
        box = page.locator("#path-find").bounding_box()
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        above = page.evaluate("([x, y]) => document.elementFromPoint(x, y).id", middle)
        assert above == "path-find", "the list lies over the button"
    page.mouse.move(*middle)
    page.mouse.down()
    page.wait_for_timeout(100)
    page.mouse.up()
    steps = nx.shortest_path_length(graph, "Napoleon", "Gavroche")
    screen.says("#path-found", f"{steps} steps: Napoleon")
    assert page.locator("#path-to").input_value() == "Gavroche", page.locator("#path-to").input_value()
    screen.until("the list stays open", lambda: page.locator("#path [role=listbox]:visible").count() == 0)
    page.locator("#path").get_by_role("button", name="Clear").click()
    page.locator("#search").press_sequentially("Java")
    page.keyboard.press("Escape")
    page.wait_for_timeout(600)
    assert page.locator(".search [role=listbox]").is_hidden(), "the list opens after Escape"


def half_path(screen: Screen, graph: nx.Graph) -> None:
    """One end of a path stays while its other end is looked for."""
    page = screen.page
    screen.search("Napoleon")
    page.get_by_role("button", name="Path from here").click()
    screen.says("#path-found", "Where does it lead to?")
    page.click("#around")
    screen.until("the picture is not around Napoleon", lambda: screen.vertices() == 1 + graph.degree("Napoleon"))
    screen.search("Gavroche")
    page.click("#whole")
    screen.until("the whole graph does not come back", lambda: screen.vertices() == len(graph))
    page.get_by_role("button", name="Path to here").click()
    screen.says("#path-found", f"{nx.shortest_path_length(graph, 'Napoleon', 'Gavroche')} steps: Napoleon")
    page.locator("#path").get_by_role("button", name="Clear").click()


def ranking(screen: Screen, graph: nx.Graph, program: Path, folder: Path) -> None:
    screen.run("pagerank")
    ranks = nx.pagerank(graph, weight=None)
    best = sorted(ranks, key=ranks.get, reverse=True)[:3]
    rows = screen.page.locator("#ranking tbody tr")
    screen.until("the ranking is not that of NetworkX", lambda: [row.inner_text().split()[0] for row in rows.all()[:3]] == best)
    assert screen.page.locator("#histogram canvas").count() == 1, "no histogram"
    column = screen.page.locator("#paint-colour option").nth(1).get_attribute("value")
    screen.page.select_option("#paint-colour", column)
    screen.page.select_option("#paint-size", column)
    screen.says("#legend h3", column)
    screen.says("#legend", f"Sizes: {column}")
    screen.picture("ranking")
    answer = screen.page.locator("#answer")
    answer.locator("#python").scroll_into_view_if_needed()
    screen.picture("answer")
    command = screen.text("#command")
    output = esker(program, *shlex.split(command)[1:], folder=folder)
    assert best[0] in output, f"{command} gives another answer: {output[:200]}"
    assert "pagerank" in screen.text("#python")
    downloads(screen, len(graph))


def downloads(screen: Screen, rows: int) -> None:
    begins = {"CSV": b"", "Parquet": b"PAR1", "Arrow": b"ARROW1"}
    for name, begin in begins.items():
        with screen.page.expect_download() as download:
            screen.page.locator("#downloads").get_by_text(name, exact=True).click()
        suggested = download.value.suggested_filename
        assert "-pagerank-" in suggested, f"the name does not say the algorithm: {suggested}"
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(begin), f"{name}: {content[:20]}"
        if name == "CSV":
            lines = list(csv.reader(io.StringIO(content.decode())))
            assert len(lines) == rows + 1, f"the CSV has {len(lines)} lines"


def communities(screen: Screen) -> None:
    screen.run("louvain")
    column = screen.page.locator("#paint-colour option").nth(1).get_attribute("value")
    screen.page.select_option("#paint-colour", column)
    screen.says("#legend h3", column)
    screen.until("communities have no legend", lambda: screen.page.locator("#legend li").count() >= 3)
    fills = {dot.get_attribute("fill") for dot in screen.page.locator("#legend circle").all()}
    assert len(fills) == screen.page.locator("#legend li").count(), "communities share colours"
    screen.picture("communities")


def forms(screen: Screen, graph: nx.Graph) -> None:
    """An option that is required, one that takes several values, and an answer whose rows are edges."""
    page = screen.page
    page.select_option("#algorithm", "bfs")
    screen.says("#estimate", "Needs source")
    assert page.locator("#run").is_disabled(), "a run without a source can be begun"
    for source in ["Napoleon", "Gavroche"]:
        page.locator("#option-source").fill(source)
        page.keyboard.press("Enter")
    screen.says("#estimate", "Takes")
    page.click("#run")
    steps = nx.multi_source_dijkstra_path_length(graph, {"Napoleon", "Gavroche"}, weight=None)
    screen.until("depths differ from NetworkX", lambda: page.locator("#ranking tbody td").first.inner_text() == str(max(steps.values())))
    screen.picture("form")
    screen.run("forest")
    screen.says("#ranking thead", "target")
    screen.says("#ranking-shown", f"of {len(graph) - 1} shown")


def saved(screen: Screen, graph: nx.Graph) -> None:
    with screen.page.expect_download() as download:
        screen.page.click("#save-svg")
    text = Path(download.value.path()).read_text()
    assert text.count("<title>") == len(graph), "the SVG lacks vertices"
    assert "<title>Valjean</title>" in text
    with screen.page.expect_download() as download:
        screen.page.click("#save-png")
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG"), content[:8]
    width = int.from_bytes(content[16:20])
    assert width >= 1000, f"the PNG is {width} pixels wide"
    if screen.pictures is not None:
        (screen.pictures / "saved.svg").write_text(text)
        (screen.pictures / "saved.png").write_bytes(content)


def link(screen: Screen, other: Screen, served: Served) -> None:
    """A reload and a shared link show the same, and the algorithm runs again."""
    page = screen.page
    screen.search("Cosette")
    page.get_by_role("button", name="Both").click()
    screen.unfold("#drawing")
    layout = page.get_by_label("Layout")
    layout.focus()
    layout.select_option("layers")
    screen.ready()
    focused = page.evaluate("document.activeElement.getAttribute('data-key')")
    assert focused == "Layout", "a change of the layout takes the focus away"
    state = page.url.split("#")[1]
    page.reload()
    for one in (screen, other):
        if one is other:
            one.open(served.with_state(state))
        one.ready()
        one.says("#vertex-id", "Cosette")
        one.says("#legend h3", one.page.locator("#paint-colour option").nth(1).get_attribute("value"))
        assert one.page.locator("#algorithm").input_value() == "louvain"
        assert one.page.locator("#table").is_visible()
        assert one.page.url.split("#")[1] == state, one.page.url
    screen.picture("layers")
    page.go_back()
    screen.until("back does not undo the layout", lambda: "layout=" not in page.url)
    screen.ready()


def errors(screen: Screen) -> None:
    page = screen.page
    page.locator("#where").fill("nonsense >")
    page.keyboard.press("Enter")
    screen.says("#filter li.wrong", "is not a condition")
    screen.picture("error")
    page.get_by_role("button", name="Remove nonsense >").click()
    screen.until("the error stays", lambda: page.locator("#filter li.wrong").count() == 0)
    screen.ready()


def unknown_id(screen: Screen) -> None:
    """An id that is no vertex is said once, and the next search goes on from there."""
    page = screen.page
    page.locator("#search").fill("Nobody")
    page.keyboard.press("Enter")
    screen.says("#vertex [role=alert]", "no vertex has the id")
    screen.says("#measure", "the picture of before")
    screen.ready()
    assert page.locator(".alarm").is_hidden(), "the same message is there twice"
    screen.search("Cosette")
    screen.until("the id that is no vertex stays", lambda: "Nobody" not in page.url)
    screen.until("the picture stays pale", lambda: page.locator(".stage[data-stale]").count() == 0)
    page.click("#whole")
    screen.ready()


def chips(screen: Screen) -> None:
    """What the picture was made of is seen without opening anything, and an expansion that adds nothing says so."""
    page = screen.page
    screen.search("Napoleon")
    page.click("#around")
    screen.ready()
    screen.says("#drawn", "around Napoleon")
    assert page.locator("#drawn").is_visible()
    page.click("#expand")
    screen.says(".said", "All neighbours of Napoleon are drawn already.")
    screen.says("#drawn", "expanded Napoleon")
    page.get_by_role("button", name="Remove expanded Napoleon").click()
    screen.until("the chip stays", lambda: "expanded" not in screen.text("#drawn"))
    page.click("#whole")
    screen.until("the chips stay", lambda: page.locator("#drawn").is_hidden())


def pasted_link(screen: Screen, served: Served) -> None:
    """A link that is pasted where the page is open logs in, also after the cookie is gone."""
    page = screen.page
    page.context.clear_cookies()
    page.evaluate("(link) => { location.href = link; }", served.link)
    screen.until("the token stays in the address", lambda: "token" not in page.url)
    screen.until("the link gives no cookie", lambda: len(page.context.cookies()) > 0)
    page.wait_for_timeout(300)
    screen.ready()
    page.context.clear_cookies()
    page.reload()
    page.wait_for_selector(".login input")
    page.evaluate("(link) => { location.href = link; }", served.link)
    screen.ready()
    assert "token" not in page.url, page.url


def keys_and_dark(screen: Screen) -> None:
    screen.page.locator("#picture").focus()
    screen.page.keyboard.press("?")
    assert screen.page.locator("#keys").is_visible()
    screen.picture("keys")
    screen.page.keyboard.press("Escape")
    screen.page.emulate_media(color_scheme="dark")
    ground = screen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(20, 24, 30)", ground
    screen.picture("dark")
    screen.page.emulate_media(color_scheme="light")
    unlabelled = screen.page.evaluate("""() => [...document.querySelectorAll('button, input, select')].filter((control) =>
        !control.getAttribute('aria-label') && !control.textContent.trim() && !control.labels?.length && !control.title).map((control) => control.outerHTML)""")
    assert unlabelled == [], f"controls without a label: {unlabelled}"


def senseless_link(other: Screen, served: Served, graph: nx.Graph) -> None:
    """Anybody can write a link: what makes no sense in it is as at the start."""
    other.open(served.with_state("vertices=many&hops=-1&view=cube&layout=&path=Valjean&difference=1&option.=&selected=%3Cb%3E"))
    other.says("#vertex-id", "<b>")
    other.page.wait_for_selector("#vertex [role=alert]")
    assert other.vertices() == len(graph)
    assert other.page.locator("#picture").is_visible()


def without_webgl(screen: Screen, served: Served, graph: nx.Graph) -> None:
    """A browser that cannot draw shows the table."""
    screen.open(served.link)
    rows = screen.page.locator("#table tbody tr")
    screen.until("no table without WebGL", lambda: rows.count() == len(graph))
    assert screen.page.locator("#picture").is_hidden()
