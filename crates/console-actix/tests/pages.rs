//! The pages of the console over fakes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "pages/crashes.rs"]
mod crashes;
#[path = "pages/logs.rs"]
mod logs;
#[path = "pages/refusals.rs"]
mod refusals;
#[path = "pages/resources.rs"]
mod resources;
mod support;

use actix_web::http::header::{ALLOW, CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use support::{PASSWORD, Shown, World};

const SIGN_IN: &str = "name=Ann&password=correct+horse+battery&next=%2Fconsole%2Fpassword";

/// Decision P2.
#[actix_web::test]
async fn the_first_start_creates_an_operator_who_is_signed_in() {
    let world = World::new();
    let code = world.offer().await;
    let page = world.get(&format!("/console/setup?code={code}"), None).await;
    assert_eq!(page.status, 200);
    assert!(page.html.contains("Welcome") && page.html.contains(&code), "{}", page.html);

    let short =
        world.post("/console/setup", &format!("code={code}&name=Ann&password=short&repeated=other"), None).await;
    assert_eq!(short.status, 400);
    assert!(short.html.contains("Password must have at least 12 characters."), "{}", short.html);
    assert!(short.html.contains("is not the same as the password") && short.html.contains(r#"value="Ann""#));

    let form = format!("code={code}&name=Ann&password={PASSWORD}&repeated={PASSWORD}");
    let created = world.post("/console/setup", &form, None).await;
    assert_eq!((created.status, created.header(LOCATION)), (303, "/console"));
    let home = world.get("/console", Some(&created.cookie())).await;
    assert!(home.html.contains("Ann") && home.html.contains("admin of all organizations"), "{}", home.html);

    let again = world.post("/console/setup", &form, None).await;
    assert_eq!(again.status, 403);
    assert!(again.html.contains("no longer valid"), "{}", again.html);
    assert_eq!(world.get("/console/setup?code=guess", None).await.status, 403);
    assert_eq!(world.get("/console/setup", None).await.status, 403);
}

/// Decision P3.
#[actix_web::test]
async fn a_sign_in_leads_to_the_page_that_was_asked_for() {
    let world = World::with_ann().await;
    let asked = world.get("/console/password", None).await;
    assert_eq!((asked.status, asked.header(LOCATION)), (303, "/console/sign-in?next=%2Fconsole%2Fpassword"));
    assert_eq!(world.get("/console", None).await.header(LOCATION), "/console/sign-in");
    let form = world.get(asked.header(LOCATION), None).await;
    assert!(form.html.contains(r#"value="/console/password""#), "{}", form.html);
    let signed_in = world.post("/console/sign-in", SIGN_IN, None).await;
    assert_eq!((signed_in.status, signed_in.header(LOCATION)), (303, "/console/password"));
    let set = signed_in.header(SET_COOKIE);
    assert!(set.starts_with("platen_session=") && set.contains("HttpOnly; SameSite=Lax; Path=/"), "{set}");
    let cookie = signed_in.cookie();
    assert_eq!(world.get("/console/password", Some(&cookie)).await.status, 200);
    assert_eq!(world.get("/console/sign-in", Some(&cookie)).await.header(LOCATION), "/console");

    let elsewhere = SIGN_IN.replace("%2Fconsole%2Fpassword", "%2F%2Fevil.example");
    let elsewhere = world.post("/console/sign-in", &elsewhere, None).await;
    assert_eq!(elsewhere.header(LOCATION), "/console", "no other site");
}

/// Decision P3.
#[actix_web::test]
async fn a_sign_out_ends_the_session_and_removes_the_cookie() {
    let world = World::with_ann().await;
    let cookie = world.post("/console/sign-in", SIGN_IN, None).await.cookie();
    let out = world.post("/console/sign-out", "", Some(&cookie)).await;
    assert_eq!((out.status, out.header(LOCATION)), (303, "/console/sign-in"));
    assert!(out.header(SET_COOKIE).contains("Max-Age=0"), "{}", out.header(SET_COOKIE));
    assert_eq!(world.get("/console", Some(&cookie)).await.status, 303);
}

/// Decision P4.
#[actix_web::test]
async fn a_wrong_password_is_said_with_what_was_typed_and_the_sixth_waits() {
    let world = World::with_ann().await;
    for name in ["Ann", "Nobody"] {
        for _ in 0..5 {
            let wrong = world.post("/console/sign-in", &format!("name={name}&password=wrong&next="), None).await;
            assert_eq!(wrong.status, 401, "{name}");
            assert!(wrong.html.contains("The name or the password is wrong."), "{}", wrong.html);
            assert!(wrong.html.contains(&format!(r#"value="{name}""#)) && !wrong.html.contains(r#"value="wrong""#));
        }
        let waits = world.post("/console/sign-in", &format!("name={name}&password=wrong&next="), None).await;
        assert_eq!((waits.status, waits.header(RETRY_AFTER)), (429, "60"), "{name}");
        assert!(waits.html.contains("Too many wrong passwords; try again in 60 s."), "{}", waits.html);
    }
}

/// Decision P3.
#[actix_web::test]
async fn the_own_password_is_changed_and_other_sessions_end() {
    let world = World::with_ann().await;
    let [one, other] = [
        world.post("/console/sign-in", SIGN_IN, None).await.cookie(),
        world.post("/console/sign-in", SIGN_IN, None).await.cookie(),
    ];
    let wrong = "current=wrong&password=another+password&repeated=another+password";
    let refused = world.post("/console/password", wrong, Some(&one)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.html.contains("Current password is wrong."), "{}", refused.html);
    let right = format!("current={PASSWORD}&password=another+password&repeated=another+password");
    let changed = world.post("/console/password", &right, Some(&one)).await;
    assert_eq!((changed.status, changed.header(LOCATION)), (303, "/console/account?done=password"));
    let home = world.get("/console/account?done=password", Some(&changed.cookie())).await;
    assert!(home.html.contains("Your password is changed."), "{}", home.html);
    for ended in [one, other] {
        assert_eq!(world.get("/console", Some(&ended)).await.status, 303);
    }
}

/// Decision P5.
#[actix_web::test]
async fn a_form_of_another_site_is_refused() {
    let world = World::with_ann().await;
    let cookie = world.post("/console/sign-in", SIGN_IN, None).await.cookie();
    for (path, form) in [("/console/sign-in", SIGN_IN), ("/console/sign-out", ""), ("/console/password", "current=a")] {
        for site in ["cross-site", "same-site"] {
            let refused = world.send("POST", path, form, Some(&cookie), &[("sec-fetch-site", site)]).await;
            assert_eq!(refused.status, 403, "{path} from {site}");
        }
        assert_eq!(world.send("POST", path, form, Some(&cookie), &[]).await.status, 403, "{path}");
    }
    assert_eq!(world.get("/console", Some(&cookie)).await.status, 200, "the session goes on");
}

/// Decision P7.
#[actix_web::test]
async fn every_page_has_the_strict_headers_and_nothing_inline() {
    let world = World::with_ann().await;
    let cookie = world.post("/console/sign-in", SIGN_IN, None).await.cookie();
    for (path, cookie) in [
        ("/console", Some(&cookie)),
        ("/console/account", Some(&cookie)),
        ("/console/password", Some(&cookie)),
        ("/console", None),
        ("/console/sign-in", None),
        ("/console/setup", None),
        ("/console/nothing", None),
        ("/console/nothing", Some(&cookie)),
    ] {
        let Shown { headers, html, .. } = world.get(path, cookie.map(String::as_str)).await;
        let policy = headers.get("content-security-policy").unwrap().to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(headers.get("x-content-type-options").unwrap(), "nosniff");
        assert_eq!(headers.get("referrer-policy").unwrap(), "same-origin");
        assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-store");
        for inline in ["style=", "<style", "<script>", "hx-on", "onclick", "javascript:", "http:", "https:"] {
            assert!(!html.contains(inline), "{path}: {inline}\n{html}");
        }
    }
}

/// Decision P7: what was sent is shown as text.
#[actix_web::test]
async fn markup_in_what_was_sent_stays_text() {
    let world = World::with_ann().await;
    let hostile = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27";
    let shown = world.post("/console/sign-in", &format!("name={hostile}&password=x&next={hostile}"), None).await;
    assert!(!shown.html.contains("<script>alert"), "{}", shown.html);
    assert!(shown.html.contains("&#60;script&#62;alert(1)"), "{}", shown.html);
}

#[actix_web::test]
async fn what_is_not_there_is_a_page_with_the_id_of_the_request() {
    let world = World::with_ann().await;
    let missing = world.send("GET", "/console/nothing", "", None, &[("x-request-id", "my-request")]).await;
    assert_eq!(missing.status, 404);
    assert!(missing.html.contains("Not Found") && missing.html.contains("<code>my-request</code>"), "{}", missing.html);
    let refused = world.send("PUT", "/console/sign-in", "", None, &[]).await;
    assert_eq!((refused.status, refused.header(ALLOW)), (405, "GET, HEAD, POST"));
    world.store.set_failing(true);
    let failed = world.post("/console/sign-in", SIGN_IN, None).await;
    assert_eq!(failed.status, 500);
    assert!(!failed.html.contains("database") && failed.html.contains("request id"), "{}", failed.html);
}

#[actix_web::test]
async fn every_link_of_a_page_leads_to_a_page_and_every_file_is_there() {
    let world = World::with_ann().await;
    let cookie = world.post("/console/sign-in", SIGN_IN, None).await.cookie();
    let mut loaded = 0;
    for start in ["/console", "/console/account", "/console/password"] {
        let page = world.get(start, Some(&cookie)).await;
        loaded = page.html.len();
        for attribute in ["href=\"", "src=\""] {
            for link in page.html.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let found = world.get(link, Some(&cookie)).await;
                assert!(link.starts_with('#') || found.status == 200, "{link}: {}", found.status);
                let is_file = link.contains("/assets/");
                loaded += if is_file { found.html.len() } else { 0 };
                assert!(!is_file || found.header(CACHE_CONTROL).contains("immutable"), "{link}");
            }
        }
    }
    assert!(loaded < 150 * 1024, "a page with all that it loads takes {loaded} bytes");
    assert_eq!(world.get("/console/assets/0/nothing.js", None).await.status, 404);
}

/// Decision P10.
#[actix_web::test]
async fn the_start_page_leads_to_the_console() {
    let world = World::with_ann().await;
    let start = world.get("/", None).await;
    assert_eq!((start.status, start.header(LOCATION)), (307, "console"));
}

/// Decision R3: without an account too, a form holds its connection for seconds only.
#[actix_web::test]
async fn a_form_of_which_nothing_arrives_is_refused_in_time() {
    let world = World::with_ann().await;
    let cookie = world.ann().await;
    tokio::time::pause();
    for (path, cookie) in
        [("/console/sign-in", None), ("/console/setup", None), ("/console/password", Some(cookie.as_str()))]
    {
        assert_eq!(world.stall(path, cookie).await, 408, "{path}");
    }
    let long = format!("name={}&password=x&next=", "x".repeat(20_000));
    assert_eq!(world.post("/console/sign-in", &long, None).await.status, 413);
}

/// Decision R9.
#[actix_web::test]
async fn a_query_and_a_form_with_odd_texts_are_answered_by_a_page() {
    let world = World::with_ann().await;
    let twice = world.get("/console/sign-in?next=a&next=b", None).await;
    assert_eq!(twice.status, 400);
    assert!(twice.html.contains("Bad Request") && twice.html.contains("Request <code>"), "{}", twice.html);
    let nul = world.post("/console/sign-in", "name=a%00b&password=x&next=", None).await;
    assert_eq!(nul.status, 401);
    assert!(nul.html.contains("value=\"a\u{FFFD}b\""), "{}", nul.html);
}
