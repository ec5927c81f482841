"""What people do with a page: open it, type, press; and whether it stayed the same document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selenium.webdriver.common.by import By

if TYPE_CHECKING:
    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

LONG = 120  # seconds that a busy machine may need


def open_page(browser: webdriver.Chrome, fleet: Fleet, path: str) -> None:
    """A page of the controller, marked so that a reload would show."""
    browser.get(fleet.controller.url + path)
    browser.execute_script("window.sameDocument = true")


def not_loaded_again(browser: webdriver.Chrome) -> bool:
    """Whether all that changed since it was opened changed in place."""
    return browser.execute_script("return window.sameDocument") is True


def type_in(browser: webdriver.Chrome, name: str, words: str) -> None:
    """Words into the field of that name, in place of what stood there."""
    field = browser.find_element(By.NAME, name)
    field.clear()
    field.send_keys(words)


def choose(browser: webdriver.Chrome, name: str, words: str) -> None:
    """The option of a list that reads so."""
    options = browser.find_elements(By.CSS_SELECTOR, f"select[name={name}] option")
    next(one for one in options if one.text == words).click()


def press(browser: webdriver.Chrome, word: str) -> None:
    """Press a button of the page's own part by its word."""
    buttons = browser.find_elements(By.CSS_SELECTOR, "main button, main .button")
    next(one for one in buttons if one.text.strip() == word and one.is_displayed()).click()
