//! The OpenAPI document and its pages, as clients and people get them.

use super::support::{Options, Reply, Request, Server};

fn ask(server: &Server, path: &str) -> Reply {
    server.send(Request::get(path).anonymous())
}

#[test]
fn the_document_is_served_without_credentials() {
    let server = Server::start();
    let reply = ask(&server, "/api/openapi.json");
    assert_eq!((reply.status, reply.header("Content-Type")), (200, Some("application/json; charset=utf-8")));
    assert_eq!(reply.text(), http_actix::openapi::document(""));
}

#[test]
fn the_pages_are_served_without_credentials_and_ask_nobody_else() {
    let server = Server::start();
    let reply = ask(&server, "/api/docs");
    assert_eq!((reply.status, reply.header("Content-Type")), (200, Some("text/html; charset=utf-8")));
    let policy = reply.header("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("http"), "{policy}");
    let page = reply.text().to_owned();
    assert!(!page.contains("://"), "{page}");
    for asset in ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js", "docs/favicon-32x32.png"] {
        assert!(page.contains(&format!("\"{asset}\"")), "{page}");
        let reply = ask(&server, &format!("/api/{asset}"));
        assert_eq!(reply.status, 200, "{asset}");
        assert_eq!(reply.header("X-Content-Type-Options"), Some("nosniff"), "{asset}");
        assert!(!reply.body.is_empty(), "{asset}");
        let head = server.send(Request::new("HEAD", &format!("/api/{asset}")).anonymous());
        assert_eq!(head.header("Content-Length"), Some(reply.body.len().to_string().as_str()), "{asset}");
    }
    assert!(page.contains("data-document=\"openapi.json\""), "{page}");
}

#[test]
fn what_the_page_links_to_is_relative_to_where_it_was_asked_for() {
    let server = Server::start();
    let page = ask(&server, "/api/docs/").text().to_owned();
    assert!(page.contains("src=\"start.js\"") && page.contains("data-document=\"../openapi.json\""), "{page}");
}

#[test]
fn the_document_stands_under_the_base_path() {
    let server = Server::with(Options { base_path: "/print", ..Options::default() });
    assert_eq!(ask(&server, "/print/api/openapi.json").text(), http_actix::openapi::document("/print"));
    assert_eq!(ask(&server, "/print/api/docs").status, 200);
    ask(&server, "/api/openapi.json").assert_error(404, "Not Found");
    ask(&server, "/api/docs").assert_error(404, "Not Found");
}

#[test]
fn other_paths_beside_the_document_do_not_exist() {
    // Decision R3.
    let server = Server::start();
    for path in ["/api/docs/index.html", "/api/docs/swagger-ui.js", "/api/docs/../openapi.json", "/openapi.json"] {
        ask(&server, path).assert_error(404, "Not Found");
    }
    server.send(Request::post("/api/openapi.json").anonymous()).assert_error(405, "Method Not Allowed");
}
