// GraphiQL over the session of the browser: queries by POST, subscriptions over WebSocket.
const place = document.querySelector('#graphiql');
const { editor, graphql, json, tabs } = place.dataset;

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => ({ graphql, json })[label] ?? editor,
};

self.YogaGraphiQL.renderYogaGraphiQL(place, {
  title: 'GraphiQL',
  endpoint: '/graphql',
  credentials: 'same-origin',
  subscriptionsProtocol: 'WS',
  defaultTabs: JSON.parse(tabs),
  schemaDescription: true,
  inputValueDeprecation: true,
});
