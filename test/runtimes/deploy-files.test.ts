/** The files of `deploy` that a program of the system can check, by that program. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { begin } from '../contracts/command.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { fencesOf } from '../pages/pages.ts'
import { startNginx } from './nginx.ts'
import { startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const read = (name: string) => readFile(join(root, 'deploy', name), 'utf8')

needing('nginx').it(
  'nginx takes its configuration, and asks the next process where one is gone',
  async () => {
    const nginx = await startNginx(await read('nginx.conf'), ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'])
    onTestFinished(nginx.stop)
    expect((await fetch(nginx.url)).status).toBe(502)
    const asked = () => nginx.log().match(/Connection refused\) while connecting to upstream/g)
    await eventually(() => expect(asked()).toHaveLength(3))
  },
)

needing('systemd').it('systemd takes the unit, and finds it well shut in', async () => {
  const folder = await newFolder()
  onTestFinished(folder.remove)
  const unit = join(folder.path, 'servable.service')
  await writeFile(unit, (await read('servable.service')).replace('/usr/bin/node', process.execPath))
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit])
  expect(stdout + stderr).toBe('')
  // Its exposure is from 0 to 10; this takes tenths, and fails above.
  await run('systemd-analyze', ['security', '--offline=yes', '--threshold=20', unit])
})

needing('postgresql').it('the role that serves uses what the owner made, and makes nothing', async () => {
  const database = await startPostgres()
  onTestFinished(database.stop)
  const served = new URL(database.url)
  served.username = 'servable'
  const env = { ...process.env, SERVABLE_PASSWORD: "it's" }
  // Another database of the same server has the role already.
  for (const url of [await database.database(), database.url])
    await run('psql', [url, '--no-psqlrc', '-f', join(root, 'deploy/roles.sql')], { env })
  const store = async (act: string, DATABASE_URL: string) => begin(['store', act], { DATABASE_URL }).ended
  expect(await store('check', served.href)).toMatchObject({ code: 1 })
  const denied = await store('migrate', served.href)
  expect([denied.code, denied.err]).toEqual([
    expect.any(Number),
    expect.stringContaining('permission denied'),
  ])
  expect(denied.code).not.toBe(0)
  expect(await store('migrate', database.url)).toMatchObject({ code: 0 })
  expect(await store('check', served.href)).toMatchObject({ code: 0 })
  const create = run('psql', [served.href, '--no-psqlrc', '-c', 'CREATE TABLE servable.other (a int)'])
  await expect(create).rejects.toThrow('permission denied')
})

needing('prometheus').it(
  'Prometheus takes the configuration of the page, and the query of the rule',
  async () => {
    const [scrape = '', rule = ''] = fencesOf(['containers.md'])
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => text)
    const folder = await newFolder()
    onTestFinished(folder.remove)
    const config = join(folder.path, 'prometheus.yml')
    // Debian's Prometheus has no discovery in Kubernetes.
    const discovery = 'kubernetes_sd_configs: [{ role: pod }]'
    expect(scrape).toContain(discovery)
    await writeFile(config, scrape.replace(discovery, 'static_configs: [{ targets: ["127.0.0.1:1"] }]'))
    await run('promtool', ['check', 'config', '--syntax-only', config])
    const [, query = ''] = /metricsQuery: '(.+)'/.exec(rule) ?? []
    // As the adapter fills them in.
    const filled = query
      .replace('<<.GroupBy>>', 'pod')
      .replace('<<.LabelMatchers>>', 'namespace="default",pod=~"a|b"')
    const rules = join(folder.path, 'rules.yml')
    const record = { record: 'servable_runs_active', expr: filled }
    await writeFile(rules, JSON.stringify({ groups: [{ name: 'one', rules: [record] }] }))
    await run('promtool', ['check', 'rules', rules])
  },
)
