// Draws the document that the page names. No validator of another server is asked.
SwaggerUIBundle({
  url: new URL(document.currentScript.dataset.document, document.baseURI).href,
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
