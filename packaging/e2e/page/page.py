"""Shows the page of a mount in a browser and compares it with stats.json; used by run."""

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

base, work, pictures, mount, peer_port = sys.argv[1:]
token = open(f"{work}/token").read().strip()
failures = []
WIDTHS = 360, 1600
THEMES = "light", "dark"
NOTE_VIOLATIONS = """
window.violations = [];
addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' + e.blockedURI));
"""


def check(holds, what):
    print(f"{'ok  ' if holds else 'FAIL'} {what}")
    if not holds:
        failures.append(what)


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for each in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={work}/profile":
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    made.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTE_VIOLATIONS})
    return made


def stats():
    """The figures, from the mount and not from the page's server; a snapshot of this second."""
    return json.load(open(f"{work}/mnt/.holdfast/stats.json"))


def at(figures, path):
    for key in path.split("."):
        figures = figures[key]
    return figures


def until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    check(False, f"{what} within {seconds} s")
    return None


# The figures that the tiles show, and how the page writes them.
def shown_bytes(value):
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    rest, unit = float(value), 0
    while rest >= 999.5:
        rest, unit = rest / 1024, unit + 1
    digits = 2 if rest < 9.995 else 1 if rest < 99.95 else 0
    return f"{value if unit == 0 else f'{rest:.{digits}f}'} {units[unit]}"


def shown_ratio(value):
    return f"{min(value, 0.99) if value < 1 else value:.2f}"


def shown_count(value):
    return f"{value:,}"


TILES = {
    "resident": ("cache.resident_bytes", shown_bytes),
    "dataset": ("dataset.bytes", shown_bytes),
    "planned": ("cache.planned_hit_ratio", shown_ratio),
    "waiting": ("reads.stall_seconds", None),
    "opens": ("opens.total", shown_count),
    "origin": ("fetches.origin.bytes", shown_bytes),
    "peer": ("fetches.peer.bytes", shown_bytes),
    "errors": ("reads.errors", shown_count),
}
JOB_COLUMNS = {"epoch": "epoch", "opens": "opens", "misses": "misses", "fetched": "fetched_bytes", "stalled": "stall_seconds"}
READ_PAGE = """
const of = (cell) => ({ text: cell.textContent, value: cell.dataset.value });
const tiles = {};
for (const tile of document.querySelectorAll('#tiles > div')) {
  tiles[tile.dataset.key] = of(tile.querySelector('dd'));
}
const table = document.getElementById('jobs-table');
const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
const jobs = {};
for (const row of table.tBodies[0].rows) {
  if (row.cells.length < titles.length) continue; // it says that there is no job
  jobs[row.cells[0].textContent] = Object.fromEntries([...row.cells].map((cell, i) => [titles[i], of(cell)]));
}
return { tiles, jobs, age: document.getElementById('age').textContent };
"""


def compare(driver, what):
    """Each figure only grows, so it is between that of a moment before and that of one after."""
    before = stats()
    time.sleep(3)  # the page looks again
    page = driver.execute_script(READ_PAGE)
    time.sleep(2)  # a control file may be a second old
    after = stats()
    for key, (path, write) in TILES.items():
        value = float(page["tiles"][key]["value"])
        low, high = at(before, path), at(after, path)
        holds = low <= value <= high
        if write is not None:
            exact = value if "." in page["tiles"][key]["value"] else int(value)
            holds = holds and page["tiles"][key]["text"] == write(exact)
        check(holds, f"{what}: {path}: {low} <= page {value:g} ({page['tiles'][key]['text']}) <= {high}")
    old = {job["job"]: job for job in before["jobs"]["jobs"]}
    new = {job["job"]: job for job in after["jobs"]["jobs"]}
    check(set(old) <= set(page["jobs"]) <= set(new), f"{what}: jobs {sorted(page['jobs'])}")
    for name, row in page["jobs"].items():
        for title, key in JOB_COLUMNS.items():
            low, value, high = old.get(name, {key: 0})[key], float(row[title]["value"]), new[name][key]
            check(low <= value <= high, f"{what}: {name} {key}: {low} <= page {value:g} <= {high}")


def look(driver, width, theme, name):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    time.sleep(1.5)  # charts follow
    wide = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    check(wide[0] <= wide[1] == width, f"{name}: {wide[0]} of {wide[1]} pixels wide")
    ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    bright = sum(int(n) for n in re.findall(r"\d+", ground)[:3]) > 380
    check(bright == (theme == "light"), f"{name}: {theme} ground {ground}")
    charts = driver.execute_script(
        "return [...document.querySelectorAll('.chart')].map((c) => [c.clientWidth, c.querySelector('canvas')?.clientWidth ?? 0])")
    check(len(charts) == 4 and all(0 < canvas <= place + 1 for place, canvas in charts), f"{name}: charts {charts}")
    picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
    with open(f"{pictures}/{name}-{width}-{theme}.png", "wb") as file:
        file.write(base64.b64decode(picture["data"]))


def contrast(driver):
    """The least contrast of texts with their ground (WCAG 2: 4.5 for text)."""
    return driver.execute_script("""
      const canvas = document.createElement('canvas').getContext('2d');
      const rgb = (color) => { canvas.fillStyle = color; return canvas.fillStyle.match(/[0-9a-f]{2}/g).map((x) => parseInt(x, 16) / 255); };
      const light = (color) => rgb(color).map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
      const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== 'rgba(0, 0, 0, 0)') return c; } return 'white'; };
      let least = [99, ''];
      for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
        const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < least[0]) least = [ratio, e.tagName + ' ' + e.textContent.slice(0, 30)];
      }
      return least;""")


def keyboard(driver):
    """Each link, choice, table and button is reached by Tab, in order, and shows that it is."""
    wanted = driver.execute_script(
        "return document.querySelectorAll('a[href], select:not(:disabled), summary, button, [tabindex=\"0\"]').length")
    driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    body = driver.find_element(By.TAG_NAME, "body")
    seen, marked = [], True
    for _ in range(wanted + 5):
        body = driver.switch_to.active_element
        body.send_keys(Keys.TAB)
        place = driver.execute_script("""
          const e = document.activeElement;
          e.dataset.tab ??= String(document.querySelectorAll('[data-tab]').length);
          return e === document.body ? null : [e.dataset.tab, getComputedStyle(e).outlineStyle];""")
        if place is None or place[0] in seen:
            break
        seen.append(place[0])
        marked = marked and place[1] != "none"
    hidden = driver.execute_script(
        "return [...document.querySelectorAll('details:not([open]) [tabindex=\"0\"]')].length")
    check(len(seen) == wanted - hidden and marked, f"keyboard: {len(seen)} of {wanted - hidden} places, each marked: {marked}")


def spoken(driver):
    """Charts have words and a table; tables have captions and headings."""
    charts = driver.execute_script("""
      return [...document.querySelectorAll('.chart')].map((c) => [c.getAttribute('role'), c.getAttribute('aria-label'),
        document.getElementById(c.getAttribute('aria-describedby'))?.tBodies[0].rows.length ?? 0]);""")
    for role, label, rows in charts:
        check(role == "img" and label and rows > 0, f"a chart says '{label}' and has a table of {rows} rows")
    tables = driver.execute_script("""
      return [...document.querySelectorAll('main table[id]')].filter((t) => !(t.caption?.textContent
        && [...t.tHead.rows[0].cells].every((c) => c.scope === 'col'))).map((t) => t.id);""")
    check(tables == [], f"tables without a caption or headings: {tables}")


def quiet(driver, what):
    """No error, no violation, no other host."""
    errors = [line["message"] for line in driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
    check(errors == [], f"{what}: errors of the browser: {errors}")
    violations = driver.execute_script("return window.violations")
    check(violations == [], f"{what}: violations of the policy: {violations}")
    asked = set()
    for line in driver.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    hosts = {urllib.parse.urlsplit(url).netloc.rpartition("@")[2] for url in asked if not url.startswith("data:")}
    check(hosts == {urllib.parse.urlsplit(base).netloc}, f"{what}: {len(asked)} addresses asked, all of {sorted(hosts)}")


def refuses():
    """Without the token, or with another, there is nothing."""
    for header in None, "Basic " + base64.b64encode(b"any:not the token").decode():
        request = urllib.request.Request(base + "stats.json", headers={"Authorization": header} if header else {})
        try:
            urllib.request.urlopen(request)
            status = 200
        except urllib.error.HTTPError as refusal:
            status = refusal.code
        check(status == 401, f"{'another token' if header else 'no token'}: {status}")


def daemon_of(name):
    return int(open(f"/run/holdfast/{name}.pid").readline())


def shown(driver, name):
    """The text of an element; nothing while it is hidden."""
    return driver.find_element(By.ID, name).text


def peers(driver):
    """The nodes that the page shows, by their addresses, and the words about each."""
    rows = driver.execute_script("""
      return [...document.getElementById('peers-table').tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent));""")
    return {row[0]: row[1:] for row in rows if len(row) > 1}


def allocated(driver):
    """What 'holdfast allocate' told the mount is in rows of the table of more memory."""
    told = {"command": "allocation", "budget_bytes": 64 << 20, "fair_share_bytes": 32 << 20, "proposed_bytes": 24 << 20, "changed": True}
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(f"/run/holdfast/{mount}.sock")
        daemon.sendall(json.dumps(told).encode() + b"\n")
        check(b'"ok":true' in daemon.makefile("rb").readline(), "the daemon takes its part of an allocation")
    rows = until("the page shows it", lambda: driver.execute_script("""
      const table = document.getElementById('memory-table');
      const rows = [...table.tBodies[0].rows].map((r) => [...r.cells].slice(1, 3).map((c) => c.textContent));
      return table.caption.textContent.includes('1 time, at 20') && rows;"""), 30) or []
    for words, size in ("fair share", "32.0 MiB"), ("proposed", "24.0 MiB"), ("for all mounts", "64.0 MiB"):
        check([words, size] in rows, f"the page shows {size} as '{words}'")


def with_peers(driver):
    """Both nodes are there, and what came from the other one; then that one is killed for good."""
    other = f"127.77.9.2:{peer_port}"
    nodes = until("the page shows both nodes", lambda: len(peers(driver)) == 2 and peers(driver), 60) or {}
    check(other in nodes and nodes[other][0] == "up", f"the page shows the nodes {nodes}")
    figures = stats()
    check(figures["cluster"]["nodes"] == 2 and figures["fetches"]["peer"]["bytes"] > 0,
          f"{figures['fetches']['peer']['bytes']} bytes came from the peer")
    check(f"{figures['cluster']['nodes']} nodes" in driver.find_element(By.ID, "tiles").text, "a tile has the number of nodes")
    subprocess.run([f"{home}/packaging/target/holdfast/bin/holdfast", "umount", f"{mount}-peer"], check=True, capture_output=True)
    gone = until("the page says that the other node has gone", lambda: peers(driver).get(other, [""])[0] != "up", 90)
    check(gone, f"the page shows the nodes {peers(driver)}")


def killed(driver):
    """While nobody starts the daemon again, the page keeps the last figures, and says so; then it goes on."""
    supervisor, daemon = int(open(f"{work}/supervisor").read()), daemon_of(mount)
    before = shown(driver, "age")
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(daemon, signal.SIGKILL)
    said = until("the page says that the daemon is gone", lambda: shown(driver, "lost"), 30)
    check(said and "has not answered since" in said and "goes on asking" in said, f"a killed daemon: '{said}'")
    kept = shown(driver, "age")
    time.sleep(3)
    check(shown(driver, "age") == kept, f"the age stays that of the last answer: {kept} (before: {before})")
    check(shown(driver, "tiles") != "", "the last figures are still there")
    for theme in THEMES:
        for width in WIDTHS:
            look(driver, width, theme, "killed")
    os.kill(supervisor, signal.SIGCONT)
    until("the page goes on with the next daemon", lambda: not shown(driver, "lost"), 90)
    check(daemon_of(mount) != daemon, "it is another daemon")
    check(shown(driver, "age") != kept, f"figures are new: {shown(driver, 'age')}")
    compare(driver, "after the daemon was killed")
    errors = [line["message"] for line in driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
    others = [line for line in errors if not re.search(r"net::ERR_(CONNECTION_|EMPTY_RESPONSE|SOCKET_)", line)]
    check(others == [], f"errors of the browser but refused connections: {others}")


home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
refuses()
driver = browser()
try:
    driver.get("about:blank")
    driver.get_log("performance")  # what the browser's own first page asked for
    # Chromium sends what is in the address to the same host from then on, as after its own question.
    driver.get(base.replace("http://", f"http://any:{token.replace('/', '%2F').replace('+', '%2B').replace('=', '%3D')}@"))
    until("the second epoch of both jobs", lambda: [
        job for job in stats()["jobs"]["jobs"] if job["epoch"] >= 3][1:], 240)
    until("the curve", lambda: driver.execute_script("return document.getElementById('advice').textContent"), 30)
    compare(driver, "while jobs read")
    for theme in THEMES:
        for width in WIDTHS:
            look(driver, width, theme, "reads")
        least = contrast(driver)
        check(least[0] >= 4.5, f"{theme}: least contrast {least[0]:.2f} ({least[1]})")
    check("<b>" in driver.find_element(By.ID, "jobs-table").text, "a name with markup is shown as text")
    check(not driver.find_elements(By.CSS_SELECTOR, "#jobs-table b"), "and is no markup")
    keyboard(driver)
    spoken(driver)
    # by the keyboard: the page moves what is below when figures come, also between a look and a click
    driver.find_element(By.CSS_SELECTOR, "summary").send_keys(Keys.ENTER)
    time.sleep(1)
    settings = driver.find_element(By.ID, "settings-table").text
    check("flag --capacity" in settings and token not in driver.page_source, "settings have their sources, and no secret")
    allocated(driver)
    quiet(driver, "while jobs read")
    with_peers(driver)

    store = int(open(f"{work}/store").read())
    os.kill(store, signal.SIGSTOP)
    until("the page says that the origin hangs", lambda: "hangs" in driver.find_element(By.ID, "words").text, 60)
    ages = {driver.find_element(By.ID, "age").text, time.sleep(3) or driver.find_element(By.ID, "age").text}
    check(len(ages) == 2, f"the page goes on while the origin hangs: {sorted(ages)}")
    for theme in THEMES:
        look(driver, 1600, theme, "hangs")
    os.kill(store, signal.SIGCONT)
    until("the page says that it does not any more", lambda: "hangs" not in driver.find_element(By.ID, "words").text, 60)

    open(f"{work}/stop", "w").close()
    settled = lambda: stats()["fetches"]["in_flight"] == 0
    time.sleep(3)
    until("no fetch", settled)
    compare(driver, "when jobs have ended")
    quiet(driver, "to the end")
    killed(driver)
finally:
    for line in driver.get_log("browser"):
        print(f"browser: {line['message']}")
    driver.quit()
if failures:
    sys.exit(f"{len(failures)} checks failed")
print("all checks hold")
