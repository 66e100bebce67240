"""One page in a headless Chromium, with what all steps need: waiting for a sentence, pictures, what the console said."""

import gzip
import re
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route

WAIT_MS = 60_000


def launch(playwright: Playwright, program: str, webgl: bool = True) -> Browser:
    # WebGL without a graphics card; no sandbox, which containers often lack.
    drawing = "--enable-unsafe-swiftshader" if webgl else "--disable-3d-apis"
    return playwright.chromium.launch(executable_path=program, args=[drawing, "--no-sandbox"])


def replace_page(context: BrowserContext, built: Path) -> None:
    """Takes the page from the folder where it was built, and its headers from the program."""

    def answer(route: Route) -> None:
        response = route.fetch()
        name = route.request.url.split("/")[-1] or "index.html"
        headers = {key: value for key, value in response.headers.items() if key not in ("content-encoding", "content-length")}
        route.fulfill(response=response, headers=headers, body=gzip.decompress((built / f"{name}.gz").read_bytes()))

    context.route(re.compile(r"^http://[^/]+/(app\.js|app\.css)?$"), answer)


class Screen:
    built: Path | None = None
    """Where the page was built, if it is not that of the program."""

    def __init__(self, browser: Browser, pictures: Path | None) -> None:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light", accept_downloads=True)
        if Screen.built is not None:
            replace_page(context, Screen.built)
        context.set_default_timeout(WAIT_MS)
        self.page: Page = context.new_page()
        self.pictures = pictures
        self.wrong: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message) -> None:
        # Requests that the server refuses are told as errors too: steps that want one look at the page.
        if message.type == "error" and "status of 4" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _dialog(self, dialog) -> None:
        self.wrong.append(f"an id was run as markup: {dialog.message}")
        dialog.dismiss()

    def open(self, link: str) -> None:
        self.page.goto(link)
        self.ready()

    def ready(self) -> None:
        """Waits until the picture of the present state is drawn."""
        self.page.wait_for_selector(".stage[aria-busy=false]")

    def shown(self) -> str:
        """The sentence below the picture."""
        self.ready()
        return self.text("#measure")

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def until(self, what: str, check: Callable[[], object]) -> None:
        """Waits until a check holds, and fails with what it is."""
        end = time.monotonic() + WAIT_MS / 1000
        while not check():
            if time.monotonic() > end:
                self.picture("failed")
                raise AssertionError(what)
            self.page.wait_for_timeout(50)

    def says(self, selector: str, words: str) -> None:
        """Waits until an element contains some words."""
        self.until(
            f"{selector} does not say {words!r} but {self.page.locator(selector).all_inner_texts()}",
            lambda: any(words in text for text in self.page.locator(selector).all_inner_texts()))

    def vertices(self) -> int:
        """How many vertices the picture has, by its label for screen readers."""
        self.ready()
        label = self.page.locator("#picture").get_attribute("aria-label") or ""
        return int(re.search(r"([\d,]+) vert", label).group(1).replace(",", ""))

    def edges(self) -> int:
        self.ready()
        label = self.page.locator("#picture").get_attribute("aria-label") or ""
        return int(re.search(r"([\d,]+) edge", label).group(1).replace(",", ""))

    def unfold(self, panel: str) -> None:
        """Opens a panel of the left side."""
        details = self.page.locator(panel)
        if details.get_attribute("open") is None:
            details.locator("summary").click()

    def search(self, words: str) -> None:
        """Takes the first vertex that begins so, by the keyboard alone."""
        self.page.locator("#picture").focus()
        self.page.keyboard.press("/")
        self.page.locator("#search").fill(words)
        self.page.wait_for_selector(".search [role=listbox]:visible [role=option]")
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")
        self.ready()

    def run(self, algorithm: str, **options: str) -> None:
        """Runs an algorithm from its form."""
        self.unfold("#algorithms")
        self.page.select_option("#algorithm", algorithm)
        for name, value in options.items():
            self.page.locator(f"#option-{name}").fill(value)
        self.until("there is no estimate", lambda: self.text("#estimate") != "")
        self.page.click("#run")
        self.page.wait_for_selector("#answer:not([hidden]) #figures", state="attached")

    def picture(self, name: str) -> None:
        """Keeps a picture of the page."""
        if self.pictures is not None:
            self.page.wait_for_timeout(400)  # the end of movements
            self.page.screenshot(path=self.pictures / f"{name}.png")

    def close(self) -> None:
        self.page.context.close()
