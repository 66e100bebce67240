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
