/** Debian's nginx with a configuration of ours. */
import { chmod, writeFile } from 'node:fs/promises'
import { newFolder } from '../contracts/run-host/folder.ts'
import { fileOf } from '../programs.ts'
import { freePort } from './harness.ts'
import { start } from './process.ts'

export interface Nginx {
  readonly url: string
  /** What it has printed so far. */
  log(): string
  stop(): Promise<void>
}

/** Starts it on a free port. `hosts` take the places of the servers of the configuration, in their order. */
export async function startNginx(config: string, hosts: readonly string[]): Promise<Nginx> {
  const folder = await newFolder()
  // Its workers are another user's.
  await chmod(folder.path, 0o777)
  const port = await freePort()
  let next = 0
  const placed = config
    .replace(/^(\s+server )[\w.:]+(?=[ ;])/gm, (_, before) => `${before}${hosts[next++]}`)
    .replace('listen 80', `listen 127.0.0.1:${port}`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const file = `${folder.path}/nginx.conf`
  await writeFile(
    file,
    `daemon off;
    worker_processes 1;
    pid ${folder.path}/nginx.pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${paths.map(name => `${name}_temp_path ${folder.path}/${name};`).join('\n')}
      ${placed}
    }`,
  )
  const { stop, log } = await start({
    command: fileOf('nginx') ?? 'nginx',
    args: ['-c', file, '-p', folder.path],
    until: /start worker process/,
  })
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    async stop() {
      await stop()
      await folder.remove()
    },
  }
}
