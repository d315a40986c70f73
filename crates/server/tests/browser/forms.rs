//! What operators do with the keyboard.

use crate::Demo;
use crate::driver::Browser;
use crate::support::setup::Setup;
use fantoccini::Locator;
use fantoccini::key::Key;

/// Decision P3: without a mouse.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_signs_in_searches_and_signs_out_by_keyboard() {
    let demo = Demo::start(Setup::Defaults).await;
    let browser = Browser::start().await;
    let client = &browser.client;
    client.goto(&demo.url("/devices")).await.unwrap();
    let typed = |text: String| async move { client.active_element().await.unwrap().send_keys(&text).await.unwrap() };
    typed(format!("Ann{}{}{}", char::from(Key::Tab), demo.password, char::from(Key::Enter))).await;
    client.wait().for_element(Locator::Css("nav[aria-label='Pages']")).await.unwrap();
    assert!(client.current_url().await.unwrap().path().ends_with("/console/devices"), "the page that was asked for");

    // The first link skips the head.
    client.find(Locator::Css("body")).await.unwrap().send_keys(&char::from(Key::Tab).to_string()).await.unwrap();
    assert_eq!(browser.ask("document.activeElement.textContent").await, "Skip to the content");

    client.find(Locator::Css("body")).await.unwrap().send_keys("/").await.unwrap();
    assert_eq!(browser.ask("document.activeElement.id").await, "search");
    typed(format!("RIP{}", char::from(Key::Enter))).await;
    client.wait().for_element(Locator::Css("main a[href*='/computers/']")).await.unwrap();

    client
        .find(Locator::Css("form[action$='/sign-out'] button"))
        .await
        .unwrap()
        .send_keys(&char::from(Key::Enter).to_string())
        .await
        .unwrap();
    client.wait().for_element(Locator::Id("password")).await.unwrap();
    assert!(browser.messages().await.is_empty());
}

/// The same by touch or mouse, with a wrong password first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_said_at_the_form_and_the_name_is_kept() {
    let demo = Demo::start(Setup::Defaults).await;
    let browser = Browser::start().await;
    let client = &browser.client;
    client.goto(&demo.url("/sign-in")).await.unwrap();
    client.find(Locator::Id("name")).await.unwrap().send_keys("Ann").await.unwrap();
    client.find(Locator::Id("password")).await.unwrap().send_keys("wrong").await.unwrap();
    client.find(Locator::Css("form button")).await.unwrap().click().await.unwrap();
    let problem = client.wait().for_element(Locator::Css("[role=alert]")).await.unwrap();
    assert!(!problem.text().await.unwrap().is_empty());
    assert_eq!(client.find(Locator::Id("name")).await.unwrap().prop("value").await.unwrap().unwrap(), "Ann");
    assert_eq!(browser.violations().await, [""; 0]);
    demo.sign_in(&browser).await;
}
