/** The pages of the board: built into dist/pages, served at /board by the server itself. */
import { fileURLToPath } from 'node:url';

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/board/',
  // The policy of the pages takes files of this server alone: no script, style or picture within the HTML.
  build: {
    outDir: '../../dist/pages',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    license: { fileName: 'licenses.md' },
  },
  resolve: { extensions: ['.tsx', '.ts', '.mjs', '.js', '.json'], extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
  plugins: [],
};
