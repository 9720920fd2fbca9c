// The reference with requests to try out: they go to this server, with the session of the browser or a key.
self.Scalar.createApiReference('#reference', {
  url: document.querySelector('#reference').dataset.document,
  // Else an empty key is sent, which is refused whoever is logged in.
  authentication: { preferredSecurityScheme: 'session' },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
