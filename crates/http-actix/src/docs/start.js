// Draws the document that the page names. Swagger UI is told to ask no validator of others.
SwaggerUIBundle({
  url: new URL(document.currentScript.dataset.document, document.baseURI).href,
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
