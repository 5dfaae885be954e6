"""The site as deployed: static files, headers, documentation, all through a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import Server, ServerFactory, copied, serve

SWAGGER = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"


@pytest.fixture(scope="module", params=["uvicorn", "runserver", "debug"])
def server(
    request: pytest.FixtureRequest,
    migrated_var_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    is_uvicorn = request.param == "uvicorn"
    with serve(
        copied(migrated_var_dir, tmp_path_factory),
        command="uvicorn" if is_uvicorn else "runserver",
        args=() if is_uvicorn else ("--noreload",),
        env={"DEBUG": str(request.param == "debug")},
    ) as server:
        yield server


def test_static_files_are_served_without_collectstatic(server: Server) -> None:
    response = server.get("/static/admin/css/base.css")
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/css")
    assert len(response.read()) == int(response.headers["content-length"]) > 1000


def test_a_large_static_file_arrives_whole_and_in_parts(server: Server) -> None:
    whole = server.get(SWAGGER).read()
    part = server.get(SWAGGER, headers={"Range": "bytes=70000-200000"})
    assert part.status == 206
    assert part.read() == whole[70000:200001]


def test_an_unchanged_static_file_is_not_sent_again(server: Server) -> None:
    first = server.get("/static/admin/css/base.css")
    first.close()
    again = server.get(
        "/static/admin/css/base.css", headers={"If-Modified-Since": first.headers["last-modified"]}
    )
    again.close()
    assert again.status == 304


def test_a_new_release_is_not_mixed_with_scripts_of_the_one_before(server: Server) -> None:
    with server.get("/static/chats/page.js") as response:
        assert "max-age=0" in response.headers["cache-control"]


@pytest.mark.parametrize("path", ["/static/none.css", "/static/../manage.py", "/static/%2e%2e/x"])
def test_a_static_file_that_is_not_there(server: Server, path: str) -> None:
    with server.get(path) as response:
        assert response.status == 404


def test_pages_carry_the_security_headers(server: Server) -> None:
    with server.get("/admin/login/") as response:
        headers = response.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_the_swagger_page_refers_to_nothing_outside_and_runs_no_inline_script(
    server: Server,
) -> None:
    response = server.get("/api/docs")
    page = response.read().decode()
    links = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert links
    assert all(link.startswith("/") for link in links)
    assert re.findall(r"<script>", page) == []
    assert "script-src" not in response.headers["content-security-policy"]
    for link in links:
        with server.get(link.replace("&amp;", "&")) as part:
            assert part.status == 200


def test_nothing_warned_or_failed(server: Server) -> None:
    output = server.output()
    assert "Traceback" not in output
    assert "Warning" not in output


def test_a_host_that_is_not_ours_is_one_warning_without_a_traceback(server: Server) -> None:
    with server.get("/api/chats", headers={"Host": "evil.example"}) as response:
        assert response.status == 400
    server.wait_for_output("Invalid HTTP_HOST header: 'evil.example'")
    (line,) = (line for line in server.output().splitlines() if "evil.example" in line)
    assert " WARNING django.security.DisallowedHost [" in line
    assert "Traceback" not in server.output()


@pytest.mark.parametrize("command", ["uvicorn", "gunicorn"])
def test_behind_a_proxy_that_speaks_tls_only_plain_requests_are_redirected(
    real_server: ServerFactory, command: str
) -> None:
    server = real_server(
        command=command, env={"HTTPS": "true", "ALLOWED_HOSTS": "answers.example.org"}
    )
    host = {"Host": "answers.example.org"}
    with server.get("/api/chats", headers=host) as plain:
        assert plain.status == 301
        assert plain.headers["location"] == "https://answers.example.org/api/chats"
    with server.get("/api/chats", headers={**host, "X-Forwarded-Proto": "https"}) as secure:
        assert secure.status == 200
    with server.get("/healthz", headers=host) as health:
        assert health.status == 200
