"""What a person does with a graph of event times, kinds, properties and versions, one vertex of which has 900 neighbours."""

import re
from pathlib import Path
from urllib.parse import unquote

from browser import Screen
from databases import COMMAS, EVIL, HUB, Trade, change
from served import Served


def evil_ids(screen: Screen, served: Served) -> None:
    screen.open(served.link)
    screen.search("<img")
    screen.says("#vertex-id", EVIL)
    assert screen.page.locator("#app img").count() == 0, "an id became an element"
    screen.page.get_by_role("button", name="Both").click()
    screen.page.locator("#table").get_by_role("button", name=EVIL, exact=True).wait_for()
    screen.picture("evil")
    screen.search("a,b")
    screen.says("#vertex-id", COMMAS)
    screen.page.get_by_role("button", name="Picture", exact=True).click()


def hub(screen: Screen) -> None:
    """The state that follows steps begin with: only the hub's neighbours, at most 100."""
    screen.search(HUB)
    screen.says("#neighbors-shown", "100 of 897 shown")
    screen.page.click("#whole")
    before = screen.vertices()
    screen.page.click("#expand")
    screen.says("#measure", f"100 of 897 neighbours of {HUB}")
    assert screen.vertices() >= before
    screen.picture("hub")


def neighbours(made: Trade, keeps) -> set[str]:
    """The hub's neighbours in the newest version by edges that meet a condition."""
    removed = set(made.removed)
    return {target for source, target, *rest in made.edges if source == HUB and (source, target) not in removed and keeps(*rest)}


def filters(screen: Screen, made: Trade) -> None:
    screen.search(HUB)
    screen.page.locator("#where").fill("amount > 50")
    screen.page.keyboard.press("Enter")
    rich = neighbours(made, lambda kind, amount, when: amount > 50)
    screen.says("#neighbors-shown", f"100 of {len(rich)} shown")
    screen.page.locator("#kinds").get_by_label("loan").check()
    both = neighbours(made, lambda kind, amount, when: amount > 50 and kind == "loan")
    screen.says("#neighbors-shown", f"100 of {len(both)} shown")
    screen.picture("filtered")
    screen.page.locator("#kinds").get_by_label("loan").uncheck()
    screen.page.get_by_role("button", name="Remove amount > 50").click()
    screen.page.select_option("#direction", "in")
    screen.says("#neighbors-shown", "all 0 shown")
    screen.page.select_option("#direction", "both")
    screen.says("#neighbors-shown", "of 897 shown")


def properties(screen: Screen) -> None:
    screen.search("customer-003")
    screen.says("#vertex .facts", "country")
    screen.says("#vertex .facts", "age")
    screen.unfold("#drawing")
    screen.page.get_by_label("Colours").first.select_option("country")
    screen.says("#legend", "FR")
    screen.page.get_by_label("Sizes").first.select_option("age")
    screen.ready()
    screen.picture("property")
    screen.page.get_by_label("Colours").first.select_option("communities")
    screen.page.get_by_label("Sizes").first.select_option("")
    screen.ready()


def window(screen: Screen, made: Trade) -> None:
    screen.search(HUB)
    handle = screen.page.get_by_role("slider", name="End of the window")
    handle.focus()
    for _ in range(3):
        screen.page.keyboard.press("PageDown")
    screen.until("the window is not in the link", lambda: "window=" in screen.page.url)
    screen.ready()
    screen.until("a window leaves all neighbours", lambda: " of 897" not in screen.text("#neighbors-shown"))
    found = int(re.search(r"of (\d+) shown", screen.text("#neighbors-shown")).group(1))
    limit = unquote(screen.page.url).split("window=")[1].split("&")[0].split("..")[1]
    expected = neighbours(made, lambda kind, amount, when: when.strftime("%Y-%m-%dT%H:%M:%SZ") <= limit)
    assert found == len(expected), f"{found} neighbours before {limit}, but {len(expected)} in the input"
    before = screen.text("#window-told")
    region = screen.page.get_by_role("slider", name="Window of event times")
    box = region.bounding_box()
    screen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + box["width"] / 2 + 60, box["y"] + box["height"] / 2, steps=4)
    screen.page.mouse.up()
    screen.until("the window does not slide", lambda: screen.text("#window-told") != before)
    screen.ready()
    screen.picture("window")
    slid = screen.text("#window-told")
    screen.page.click("#play")
    screen.until("the window does not play", lambda: screen.text("#window-told") != slid)
    screen.page.click("#play")
    screen.page.click("#all-times")
    screen.says("#neighbors-shown", "of 897 shown")


def drag(screen: Screen, name: str, steps: float) -> str:
    """Drags a part of the brush over some of its 60 steps in ten moves, and answers the window of the link."""
    page = screen.page
    part = page.get_by_role("slider", name=name).bounding_box()
    x, y = part["x"] + part["width"] / 2, part["y"] + part["height"] / 2
    step = page.locator(".brush").bounding_box()["width"] / 60
    page.mouse.move(x, y)
    page.mouse.down()
    for move in range(1, 11):
        page.mouse.move(x + step * steps * move / 10, y)
        page.wait_for_timeout(40)
    page.mouse.up()
    page.wait_for_timeout(400)
    screen.ready()
    return window_of(screen)


def window_of(screen: Screen) -> str:
    found = re.search(r"window=([^&]*)", unquote(screen.page.url))
    return found.group(1) if found else ""


def dragged(screen: Screen) -> None:
    """Handles and window follow the pointer wholly, not only its first move."""
    limits = screen.page.evaluate("fetch('api/v1/window?steps=60').then((answer) => answer.json())")["limits"]
    for name, steps, begin, end in [("Begin of the window", 20, 20, 60), ("End of the window", -20, 20, 40), ("Window of event times", 15, 35, 55)]:
        found = drag(screen, name, steps)
        expected = f"{limits[begin]}..{limits[end]}"
        assert found == expected, f"{name}, dragged by {steps} steps: {found}, not {expected}"
    screen.page.click("#all-times")
    screen.ready()


def places(screen: Screen) -> list[str | None]:
    """Where the handles of the brush are, in steps."""
    return [screen.page.get_by_role("slider", name=f"{end} of the window").get_attribute("aria-valuenow") for end in ("Begin", "End")]


def window_of_a_link(screen: Screen, made: Trade) -> None:
    """A window that begins and ends with no steps, and one after all times, are shown as they are."""
    page = screen.page
    page.evaluate("location.hash = 'window=2026-01-10..2026-01-20'")
    removed = set(made.removed)
    days = [when.strftime("%Y-%m-%d") for source, target, _, _, when in made.edges if (source, target) not in removed]
    within = sum("2026-01-10" <= day <= "2026-01-20" for day in days)
    screen.says("#window-told", f"2026-01-10 to 2026-01-20: {within} edges")
    assert places(screen) == ["9", "20"], places(screen)
    screen.picture("window-of-a-link")
    page.evaluate("location.hash = 'window=2030-01-01..2031-01-01'")
    screen.says("#window-told", "2030-01-01 to 2031-01-01: 0 edges")
    assert places(screen) == ["60", "60"], places(screen)
    handle = page.get_by_role("slider", name="Begin of the window")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    screen.until("a window after all times cannot be moved", lambda: places(screen) == ["58", "60"])
    screen.until("the moved window is not in the link", lambda: "2026-02-" in window_of(screen))
    page.click("#all-times")
    screen.ready()


def number_colours(screen: Screen) -> None:
    """A property of numbers colours every vertex, also those that an expansion adds where they share a value."""
    page = screen.page
    screen.unfold("#drawing")
    page.get_by_label("Colours").first.select_option("age")
    screen.says("#legend h3", "age")
    screen.ready()
    legend = screen.text("#legend")
    assert "added" not in legend, legend
    with page.expect_download() as download:
        page.click("#save-svg")
    fills = re.findall(r'<circle [^>]*fill="(#\w+)"[^>]*><title>', Path(download.value.path()).read_text())
    assert len(set(fills)) > 20, f"{len(fills)} vertices of 72 ages have {len(set(fills))} colours"
    screen.picture("number-colours")
    page.get_by_label("Colours").first.select_option("communities")
    screen.ready()


def saved(screen: Screen) -> None:
    """A saved picture has the directions of edges; a table has no picture to save."""
    page = screen.page
    screen.search(HUB)
    page.click("#around")
    screen.ready()
    with page.expect_download() as download:
        page.click("#save-svg")
    text = Path(download.value.path()).read_text()
    arrows, lines = text.count("<polygon"), text.count("<line")
    assert arrows > lines / 2 > 10, f"{lines} lines have {arrows} arrows"
    if screen.pictures is not None:
        with page.expect_download() as download:
            page.click("#save-png")
        (screen.pictures / "arrows.png").write_bytes(Path(download.value.path()).read_bytes())
    for view, is_disabled in [("Table", True), ("Picture", False)]:
        page.get_by_role("button", name=view, exact=True).click()
        for button in ("#save-svg", "#save-png"):
            assert page.locator(button).is_disabled() == is_disabled, f"{view}: {button}"
    page.click("#whole")
    screen.ready()


def wrong_condition(screen: Screen) -> None:
    """Of two conditions, the one that is refused is marked, and says why; nothing else says it again."""
    page = screen.page
    screen.search(HUB)
    for condition in ("amount > 50", "weight > 1"):
        page.locator("#where").fill(condition)
        page.keyboard.press("Enter")
    screen.says("#filter li.wrong", "have no property \"weight\"")
    assert page.locator("#filter li.wrong").count() == 1
    screen.until("the message is there twice", lambda: page.get_by_text("have no property").locator("visible=true").count() == 1)
    screen.picture("wrong-condition")
    page.get_by_role("button", name="Remove weight > 1").click()
    screen.until("the mark stays", lambda: page.locator("#filter li.wrong").count() == 0)
    page.get_by_role("button", name="Remove amount > 50").click()
    screen.ready()


def versions(screen: Screen) -> None:
    screen.search("newcomer")
    screen.says("#vertex-id", "newcomer")
    slider = screen.page.locator("#version")
    slider.focus()
    screen.page.keyboard.press("ArrowLeft")
    screen.says("#version-told", "Version 3")
    screen.until("the version is not in the link", lambda: "at=3" in screen.page.url)
    screen.until("an older version has as many neighbours", lambda: "all 2 shown" in screen.text("#neighbors-shown"))
    screen.page.keyboard.press("ArrowLeft")
    screen.says("#version-told", "people")
    screen.page.wait_for_selector("#vertex [role=alert]")  # the vertex is no part of that version
    screen.says("#measure", "the picture of before")
    screen.picture("version")
    screen.page.locator("#versions").get_by_role("button", name="Newest").click()
    screen.says("#version-told", "Version 4")
    screen.page.click("#whole")
    screen.ready()


def difference(screen: Screen, made: Trade) -> None:
    screen.unfold("#difference")
    screen.page.select_option("#difference-from", "2")
    screen.page.select_option("#difference-to", "4")
    screen.page.click("#difference-show")
    screen.says("#difference-found", "From version 2 to 4")
    added, removed = len(made.added), len(made.removed)
    # The new vertex is a change too.
    screen.says("#difference-found", f"{added + 1} added, {removed} removed")
    screen.says("#legend", "added")
    screen.says("#legend", "removed")
    ends = {end for edge in [*made.added, *made.removed] for end in edge}
    assert screen.vertices() == len(ends)
    assert screen.edges() == added + removed
    screen.picture("difference")
    screen.page.select_option("#difference-from", "1")
    screen.page.click("#difference-show")
    screen.says("#difference-found", "From version 1 to 4: of the first 500 of ")
    screen.page.click("#difference-close")
    screen.until("the difference stays", lambda: screen.vertices() > len(ends))


def table_takes_over(screen: Screen) -> None:
    screen.unfold("#drawing")
    screen.page.get_by_label("Vertices at most").select_option("1000")
    # The views of earlier steps are a choice; without one the table takes over.
    state = re.sub(r"&?view=\w+", "", screen.page.url.split("#")[1])
    screen.page.evaluate("(state) => { location.hash = state; }", state)
    screen.page.reload()
    screen.says("#measure", "so as a table")
    assert screen.page.locator("#picture").is_hidden()
    screen.until("the table has no rows", lambda: screen.page.locator("#table tbody tr").count() == 200)
    screen.picture("table")
    screen.unfold("#drawing")
    screen.page.get_by_label("Vertices at most").select_option("200")
    screen.ready()


def newer_version(screen: Screen, made: Trade, program: Path) -> None:
    change(program, made, [("customer-010", "late")], [])
    screen.says("#notice", "Version 5 was committed.")
    screen.picture("notice")
    assert "Version 4" in screen.text("#version-told"), "the page changed without being asked"
    screen.page.click("#see-newest")
    screen.says("#version-told", "Version 5")
    screen.search("late")
    screen.says("#vertex-id", "late")


def cancelled(screen: Screen, served: Served, algorithm: str) -> None:
    screen.open(served.link)
    screen.unfold("#algorithms")
    screen.page.select_option("#algorithm", algorithm)
    screen.until("there is no estimate", lambda: screen.text("#estimate") != "")
    screen.page.click("#run")
    screen.page.wait_for_selector("#progress progress", state="attached")
    screen.page.click("#cancel")
    screen.says("#progress", "Cancelled.")


def left(screen: Screen, served: Served, algorithm: str) -> None:
    """The run of a closed page is forgotten."""
    screen.open(served.link)
    screen.unfold("#algorithms")
    screen.page.select_option("#algorithm", algorithm)
    screen.until("there is no estimate", lambda: screen.text("#estimate") != "")
    screen.page.click("#run")
    screen.until("nothing tells of the run", lambda: screen.requests[-1].endswith("/events") and "/runs/" in screen.requests[-1])
    events = screen.requests[-1]
    screen.page.goto("about:blank")
    screen.until("the run goes on", lambda: screen.page.context.request.get(events).status == 404)
    screen.open(served.link)


def gone(screen: Screen, served: Served) -> None:
    """A page whose server ended says so."""
    screen.open(served.link)
    assert screen.page.locator("#gone").is_hidden()
    served.stop()
    screen.says("#gone", "The server does not answer.")
