"""The pages map, names and one name, and the address of the points."""

from __future__ import annotations


def wait_for(page, path):
    while not page.get(f"{path}.json?wait=1").json()["ready"]:
        pass


def test_the_map_is_a_canvas_and_a_list(page):
    page.remember("Ada lives in Porto.")
    wait_for(page, "/map")

    text = page.get("/map").text

    assert "<canvas" in text
    assert "Ada lives in Porto." in text


def test_an_empty_map_teaches(page):
    wait_for(page, "/map")

    assert "Say to your assistant" in page.get("/map").text


def test_the_points_are_served_as_bytes(page):
    page.remember("Ada lives in Porto.")
    wait_for(page, "/map")

    answer = page.get("/map/points.bin")

    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.content[:4] == b"HMM1"


def test_a_hostile_name_is_text(page):
    page.remember("We met <b>Carla</b><script>alert(1)</script> in Porto.")
    wait_for(page, "/names")

    assert "<script>alert" not in page.get("/names").text + page.get("/names/Carla").text


def test_a_name_with_strokes_has_its_page(page):
    page.remember("Look at src/router.py for that.")

    assert page.get("/names/src/router.py.json").json()["holding"] == 1
    assert "Look at" in page.get("/names/src/router.py").text


def test_a_name_links_to_those_named_with_it(page):
    page.remember("Then Ada met Bo.")

    assert 'href="/names/Bo"' in page.get("/names/Ada").text
