#!/usr/bin/env python3
"""Drives the page of `esker serve` in a headless Chromium, and checks what it shows."""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

import databases
import miserables
import trade
import widget
from browser import Screen, launch
from served import Served


class Browsers:
    """A browser, and one that has no WebGL."""

    def __init__(self, playwright: Playwright, program: str) -> None:
        self.usual = launch(playwright, program)
        self.without_webgl = launch(playwright, program, webgl=False)

    def close(self) -> None:
        self.usual.close()
        self.without_webgl.close()


def step(action, *arguments) -> None:
    """Does one step, and prints how long it took."""
    start = time.monotonic()
    action(*arguments)
    print(f"  {action.__module__}.{action.__name__}: {time.monotonic() - start:.1f} s", flush=True)


def on_miserables(browsers: Browsers, program: Path, folder: Path, pictures: Path | None) -> None:
    database, graph = databases.miserables(program, folder)
    served = Served(program, database)
    try:
        screen, other = Screen(browsers.usual, pictures), Screen(browsers.usual, None)
        step(miserables.first_picture, screen, served, graph)
        print(f"  {miserables.times(screen)}")
        step(miserables.search_and_neighbours, screen, graph)
        step(miserables.around_and_expand, screen, graph)
        step(miserables.table, screen, graph)
        step(miserables.path, screen, graph)
        step(miserables.suggestions, screen, graph)
        step(miserables.half_path, screen, graph)
        step(miserables.ranking, screen, graph, program, folder)
        step(miserables.forms, screen, graph)
        step(miserables.saved, screen, graph)
        step(miserables.communities, screen)
        step(miserables.link, screen, other, served)
        step(miserables.errors, screen)
        step(miserables.unknown_id, screen)
        step(miserables.chips, screen)
        step(miserables.keys_and_dark, screen)
        step(miserables.pasted_link, screen, served)
        step(miserables.senseless_link, other, served, graph)
        plain = Screen(browsers.without_webgl, None)
        step(miserables.without_webgl, plain, served, graph)
        finish(screen, other, plain)
    finally:
        served.stop()


def on_trade(browsers: Browsers, program: Path, folder: Path, pictures: Path | None) -> None:
    made = databases.trade(program, folder)
    served = Served(program, made.path)
    try:
        screen = Screen(browsers.usual, pictures)
        step(trade.evil_ids, screen, served)
        step(trade.hub, screen)
        step(trade.filters, screen, made)
        step(trade.properties, screen)
        step(trade.number_colours, screen)
        step(trade.window, screen, made)
        step(trade.dragged, screen)
        step(trade.window_of_a_link, screen, made)
        step(trade.saved, screen)
        step(trade.wrong_condition, screen)
        step(trade.versions, screen)
        step(trade.difference, screen, made)
        step(trade.table_takes_over, screen)
        step(trade.newer_version, screen, made, program)
        finish(screen)
    finally:
        served.stop()


def on_large(browsers: Browsers, program: Path, folder: Path, pictures: Path | None) -> None:
    served = Served(program, databases.large(program, folder))
    try:
        screen = Screen(browsers.usual, pictures)
        step(trade.cancelled, screen, served, "betweenness")
        step(trade.left, screen, served, "betweenness")
        finish(screen)
        # Never finished: the console tells of each request that finds no server.
        step(trade.gone, Screen(browsers.usual, pictures), served)
    finally:
        served.stop()


def on_widget(browsers: Browsers, _program: Path, _folder: Path, pictures: Path | None) -> None:
    screen = Screen(browsers.usual, pictures)
    step(widget.drawn, screen)
    step(widget.selection, screen)
    step(widget.places, screen)
    step(widget.values_of_python, screen)
    finish(screen)


def finish(*screens: Screen) -> None:
    """Nothing went wrong that no step looked at, and nothing came from elsewhere."""
    for screen in screens:
        assert screen.wrong == [], screen.wrong
        assert screen.page.locator(".alarm").is_hidden(), screen.text(".alarm")
        home = screen.page.url.split("#")[0]
        elsewhere = [url for url in screen.requests if not url.startswith((home, "blob:"))]
        assert elsewhere == [], f"requests to elsewhere: {elsewhere}"
        screen.close()


GROUPS = {"miserables": on_miserables, "trade": on_trade, "large": on_large, "widget": on_widget}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--esker", type=Path, required=True, help="the program")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser [default: chromium]")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the page")
    parser.add_argument("--built", type=Path, help="take the page from this folder, such as web/dist, instead of the program")
    parser.add_argument("--only", choices=GROUPS, help="the steps on one database only")
    options = parser.parse_args()
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    Screen.built = options.built
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browsers = Browsers(playwright, options.chromium)
        for name, group in GROUPS.items():
            if options.only in (None, name):
                print(name)
                group(browsers, options.esker.resolve(), Path(folder), options.pictures)
        browsers.close()
    print(f"all is well after {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
