declare const importBuilt: <T>(name: string) => Promise<T>;

// A test has a copy of the environment; the server as the build left it reads the process's own.
const { env } = (await importBuilt<{ default: NodeJS.Process }>('node:process')).default;
const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'NODE_USE_ENV_PROXY'] as const;

/** What happens while the environment names a proxy for everything. */
export async function proxied<T>(url: string, work: () => Promise<T>): Promise<T> {
  const before = names.map((name) => [name, env[name]] as const);
  Object.assign(env, { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url, NO_PROXY: '', no_proxy: '' });
  env.NODE_USE_ENV_PROXY = '1';
  try {
    return await work();
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete env[name];
      else env[name] = value;
  }
}
