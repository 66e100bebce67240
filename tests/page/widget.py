"""The widget of notebooks alone: what it draws, what it gives back. A model of a few lines stands for the notebook."""

import gzip
from pathlib import Path

from playwright.sync_api import Route

from browser import Screen

HOME = "http://widget.test/"
PROGRAM = Path(__file__).parents[2] / "python/esker/widget.js.gz"
MARKUP = "<img src=x onerror=alert(1)>"
FRAME = """<!doctype html><html lang="en"><title>widget</title><body><div id="cell"></div>
<script type="module">
import widget from './widget.js';
const values = {
    scene: {
        directed: true, found: 5,
        vertices: [
            { id: 'left', x: -100, y: 0, colour: '#0072b2', size: 0.2 },
            { id: 'MARKUP', x: 0, y: 0, colour: '#e69f00', size: 1 },
            { id: 'right', x: 100, y: 0, colour: '#0072b2', size: 0.2 },
        ],
        edges: [[0, 1, 1], [1, 2, 3]],
        legend: [{ colour: '#e69f00', text: 'MARKUP' }],
    },
    height: 400, chosen: [], moved: {},
};
const listeners = new Map();
window.model = {
    saves: 0,
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; },
    save_changes: () => { window.model.saves += 1; },
    on: (event, changed) => listeners.set(event, changed),
    off: (event) => listeners.delete(event),
    receive: (name, value) => { values[name] = value; listeners.get(`change:${name}`)?.(); },
    listening: () => listeners.size,
};
window.end = widget.render({ model: window.model, el: document.getElementById('cell') });
</script>""".replace("MARKUP", MARKUP)


def served(route: Route) -> None:
    is_program = route.request.url.endswith("widget.js")
    body = gzip.decompress(PROGRAM.read_bytes()) if is_program else FRAME.encode()
    route.fulfill(body=body, content_type="text/javascript" if is_program else "text/html")


def value(screen: Screen, name: str):
    return screen.page.evaluate("name => window.model.get(name)", name)


def drawn(screen: Screen) -> None:
    screen.page.route(f"{HOME}**", served)
    screen.page.goto(HOME)
    screen.page.wait_for_selector(".esker-picture canvas")
    legend = screen.page.locator(".esker-legend").inner_text()
    assert MARKUP in legend and "3 of 5 vertices" in legend, legend
    assert screen.page.locator(".esker-picture").bounding_box()["height"] == 400
    screen.picture("widget")


def middle(screen: Screen) -> tuple[float, float]:
    box = screen.page.locator(".esker-picture").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def selection(screen: Screen) -> None:
    screen.page.mouse.click(*middle(screen))
    screen.page.wait_for_function("window.model.get('chosen').join() === '1'")
    screen.page.locator(".esker-picture").press("ArrowRight")
    assert value(screen, "chosen") == [2]
    # With Shift another one, and the same once more leaves it out.
    for expected in ([2, 1], [2]):
        screen.page.wait_for_timeout(400)  # two clicks at once would be a double click
        screen.page.keyboard.down("Shift")
        screen.page.mouse.click(*middle(screen))
        screen.page.keyboard.up("Shift")
        screen.page.wait_for_function("wanted => window.model.get('chosen').join() === wanted", arg=",".join(map(str, expected)))
    screen.page.locator(".esker-picture").press("Escape")
    assert value(screen, "chosen") == []
    assert screen.page.evaluate("window.model.saves") >= 5


def places(screen: Screen) -> None:
    x, y = middle(screen)
    screen.page.mouse.move(x, y)
    screen.page.mouse.down()
    screen.page.mouse.move(x + 10, y + 20, steps=3)
    screen.page.mouse.move(x + 30, y + 60, steps=5)
    screen.page.mouse.up()
    screen.page.wait_for_function("'1' in window.model.get('moved')")
    moved = value(screen, "moved")
    assert list(moved) == ["1"], moved
    # Down on the screen is a greater y in Python too.
    assert moved["1"][0] > 5 and moved["1"][1] > 10, moved
    assert value(screen, "chosen") == [], "a drag is no click"


def values_of_python(screen: Screen) -> None:
    screen.page.evaluate("window.model.receive('height', 250)")
    assert screen.page.locator(".esker-picture").bounding_box()["height"] == 250
    screen.page.evaluate("window.model.receive('scene', { ...window.model.get('scene'), found: 3, legend: [] })")
    assert screen.page.locator(".esker-legend").inner_text() == ""
    screen.page.evaluate("window.end()")
    assert screen.page.locator(".esker-picture").count() == 0
    assert screen.page.evaluate("window.model.listening()") == 0
