import { afterEach, describe, expect, it, vi } from 'vitest'
import { resolveCoreOptions } from '../../src/core/options.ts'
import { createHandler, defaultRegistry, type HandlerOptions, Registry } from '../../src/index.ts'
import { untyped } from '../support.ts'

const agent = { run: async () => untyped<never>({}) }
const provider = { header: 'x-own-key', matches: ['own'] }

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Options that are wrong, and the member that the error names. */
const WRONG: [object, string][] = [
  [{ unknown: 1 }, 'unknown'],
  [{ Prefix: '/api' }, 'Prefix'],
  [{ agents: 'echo' }, 'agents'],
  [{ agents: null }, 'agents'],
  [{ agents: [agent] }, 'agents'],
  [{ agents: new Map([['echo', agent]]) }, 'agents'],
  [{ agents: { echo: 5 } }, 'agents.echo'],
  [{ teams: 5 }, 'teams'],
  [{ teams: { desk: {} } }, 'teams.desk'],
  [{ workflows: true }, 'workflows'],
  [{ workflows: { digest: null } }, 'workflows.digest'],
  [{ serve: { echo: agent } }, 'serve'],
  [{ serve: [agent] }, 'serve[0]'],
  [{ registry: true }, 'registry'],
  [{ registry: {} }, 'registry'],
  [{ registry: null }, 'registry'],
  [{ prefix: 5 }, 'prefix'],
  [{ prefix: '/api/:tenant' }, 'prefix'],
  [{ prefix: '/api/*' }, 'prefix'],
  [{ prefix: '/api?x=1' }, 'prefix'],
  [{ prefix: '/api#x' }, 'prefix'],
  [{ middleware: () => {} }, 'middleware'],
  [{ middleware: [5] }, 'middleware.0'],
  [{ middleware: [() => {}, undefined] }, 'middleware.1'],
  [{ toolLibrary: [] }, 'toolLibrary'],
  [{ toolLibrary: { add: {} } }, 'toolLibrary.add'],
  [{ toolLibrary: { add: { execute() {}, description: 5n } } }, 'toolLibrary.add.description'],
  [{ toolkits: {} }, 'toolkits'],
  [{ toolkits: [{ name: 'math' }] }, 'toolkits[0]'],
  [{ toolkits: [{ name: 'math', tools: [{ execute() {} }] }] }, 'toolkits[0].tools[0]'],
  [{ fileUpload: { maxFiles: 0 } }, 'fileUpload.maxFiles'],
  [{ fileUpload: { allowedMimeTypes: [] } }, 'fileUpload.allowedMimeTypes'],
  [{ fileUpload: { allowedMimeTypes: ['image'] } }, 'fileUpload.allowedMimeTypes.0'],
  [{ rateLimit: { max: 1.5 } }, 'rateLimit.max'],
  [{ trustProxy: true as never }, 'trustProxy'],
  [{ trustProxy: 0 }, 'trustProxy'],
  [{ trustProxy: 33 }, 'trustProxy'],
  [{ trustProxy: 'x y' }, 'trustProxy'],
  [{ swagger: {} }, 'swagger.enabled'],
  [{ swagger: { enabled: true, specPath: '/docs' } }, 'swagger'],
  [{ admin: 'yes' }, 'admin'],
  [{ admin: { manager: {} } }, 'admin.manager'],
  [{ admin: { authenticate: 'token' } }, 'admin.authenticate'],
  [{ admin: { allow: 'localhost' } }, 'admin.allow'],
  [{ admin: { allow: ['http://localhost/'] } }, 'admin.allow.0'],
  [{ admin: { allow: ['10.0.0.0/33'] } }, 'admin.allow.0'],
  [{ admin: { stdio: ['node'] } }, 'admin.stdio'],
  [{ admin: { stdio: { commands: [''] } } }, 'admin.stdio.commands.0'],
  [{ admin: { stdio: {} } }, 'admin.stdio.commands'],
  [{ admin: { mcp: true } }, 'admin.mcp'],
  [{ fallback: new Response() }, 'fallback'],
  [{ production: 'yes' }, 'production'],
  [{ cors: 'https://a.example' }, 'cors'],
  [{ cors: [5] }, 'cors'],
  [{ cors: {} }, 'cors'],
  [{ cors: { origins: 5 } }, 'cors.origins'],
  [{ cors: { origins: '*', credentials: 'yes' } }, 'cors.credentials'],
  [{ cors: { origins: '*', credentials: true } }, 'cors.credentials'],
  [{ cors: { origins: '*', allowedHeaders: 'x-a' } }, 'cors.allowedHeaders'],
  [{ cors: { origins: '*', exposedHeaders: [5] } }, 'cors.exposedHeaders'],
  [{ cors: { origins: '*', methods: ['GET'] } }, 'cors.methods'],
  [{ limits: 5 }, 'limits'],
  [{ limits: { maxBodyBytes: '1mb' } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBodyBytes: 0 } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBodyBytes: -1 } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBodyBytes: 1.5 } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBodyBytes: Number.NaN } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBodyBytes: Number.POSITIVE_INFINITY } }, 'limits.maxBodyBytes'],
  [{ limits: { maxBody: 1 } }, 'limits.maxBody'],
  [{ logger: true }, 'logger'],
  [{ logger: console }, 'logger'],
  [{ providers: [provider] }, 'providers'],
  [{ providers: { own: 'x-own-key' } }, 'providers.own'],
  [{ providers: { own: { matches: ['own'] } } }, 'providers.own.header'],
  [{ providers: { own: { ...provider, header: '' } } }, 'providers.own.header'],
  [{ providers: { own: { ...provider, header: 'x own' } } }, 'providers.own.header'],
  [{ providers: { own: { ...provider, header: 'x-own\r\nx-b: c' } } }, 'providers.own.header'],
  [{ providers: { own: { ...provider, matches: 'own' } } }, 'providers.own.matches'],
  [{ providers: { own: { header: 'x-own-key' } } }, 'providers.own.matches'],
  [{ providers: { own: { ...provider, key: 'sk' } } }, 'providers.own.key'],
  [{ runs: 5 }, 'runs'],
  [{ runs: { timeoutMs: '10s' } }, 'runs.timeoutMs'],
  [{ runs: { timeoutMs: 0 } }, 'runs.timeoutMs'],
  [{ runs: { timeoutMs: 2 ** 31 } }, 'runs.timeoutMs'],
  [{ runs: { maxEvents: 0 } }, 'runs.maxEvents'],
  [{ runs: { maxLength: -5 } }, 'runs.maxLength'],
  [{ runs: { maxSessions: 0 } }, 'runs.maxSessions'],
  [{ runs: { maxSessionLength: 0.5 } }, 'runs.maxSessionLength'],
  [{ runs: { timeout: 5 } }, 'runs.timeout'],
]

describe('createHandler', () => {
  it.each(WRONG)('refuses %o and names `%s`', (options, named) => {
    expect(() => createHandler(untyped<HandlerOptions>(options))).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining(named),
      }),
    )
  })

  it.each([null, 5, 'options', () => {}])('refuses %s in place of options', options => {
    expect(() => createHandler(untyped<HandlerOptions>(options))).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })

  it.each<HandlerOptions>([
    {},
    { agents: {}, teams: {}, workflows: {}, serve: [] },
    { agents: { echo: agent }, registry: false },
    { registry: new Registry(), prefix: '', middleware: [] },
    { cors: true },
    { cors: false },
    { cors: ['https://a.example'] },
    {
      cors: {
        origins: ['https://a.example'],
        credentials: true,
        allowedHeaders: [],
        exposedHeaders: [],
      },
    },
    { cors: { origins: () => true, credentials: true } },
    { limits: { maxBodyBytes: 1 }, runs: { timeoutMs: 2 ** 31 - 1, maxEvents: 1, maxLength: 1 } },
    { logger: false, production: false, providers: { own: provider }, fallback: () => new Response() },
  ])('takes %o', options => {
    expect(createHandler(options)).toBeTypeOf('function')
  })

  it.each([
    '/v1.0',
    '/a+b',
    '/a(b',
    '/a)b',
    '/a[b',
    '/a|b',
    '/a$',
    '/^a',
    '/a{2}',
    '/a\\b',
    '/größe',
    '/a b',
  ])('serves under the prefix %s, or refuses it by name', async prefix => {
    let handler: ReturnType<typeof createHandler>
    try {
      handler = createHandler({ prefix, registry: new Registry() })
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringContaining('prefix') })
      return
    }
    const response = await handler(new Request(new URL(`http://h${prefix}/agents`)))
    expect(response.status).toBe(200)
  })
})

describe('resolveCoreOptions', () => {
  const DEFAULTS = {
    agents: {},
    teams: {},
    workflows: {},
    serve: [],
    prefix: '/api',
    middleware: [],
    fallback: undefined,
    production: false,
    // Outside production it has the place of a log for people.
    plugins: [{ name: '~log' }],
    limits: { maxBodyBytes: 1_048_576 },
    runs: { timeoutMs: 600_000, maxEvents: 1_000_000, maxLength: 33_554_432 },
  }

  it('has a default for every member', () => {
    const settings = resolveCoreOptions({})
    expect(settings).toMatchObject(DEFAULTS)
    expect(settings.registry).toBe(defaultRegistry())
    expect(Object.keys(settings.providers)).toEqual(['provider-a', 'provider-b', 'provider-c'])
  })

  it('takes undefined for left out, everywhere', () => {
    const nothing = {
      limits: { maxBodyBytes: undefined },
      runs: { timeoutMs: undefined, maxEvents: undefined, maxLength: undefined },
      ...Object.fromEntries(
        ['agents', 'serve', 'prefix', 'plugins', 'production', 'registry'].map(name => [name, undefined]),
      ),
    }
    expect(resolveCoreOptions(untyped(nothing))).toMatchObject(DEFAULTS)
  })

  it('keeps what is given', () => {
    const registry = new Registry()
    const settings = resolveCoreOptions({ registry, limits: { maxBodyBytes: 5 }, runs: { maxEvents: 7 } })
    expect(settings).toMatchObject({ registry, limits: { maxBodyBytes: 5 } })
    expect(settings.runs).toEqual({ ...resolveCoreOptions({}).runs, maxEvents: 7 })
  })

  it('has no registry where it is switched off', () => {
    expect(resolveCoreOptions({ registry: false }).registry).toBeUndefined()
  })

  it("puts a deployment's own providers beside the default ones, or in their place", () => {
    const settings = resolveCoreOptions({ providers: { own: provider, 'provider-a': provider } })
    expect(settings.providers).toMatchObject({ own: provider, 'provider-a': provider })
    expect(settings.providers['provider-b']?.header).toBe('x-provider-b-api-key')
  })

  it('masks unless the environment says development or test', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(resolveCoreOptions({}).production).toBe(true)
    expect(resolveCoreOptions({ production: false }).production).toBe(false)
    vi.stubEnv('NODE_ENV', 'development')
    expect(resolveCoreOptions({}).production).toBe(false)
  })

  it('logs warnings and errors as lines of JSON by default', () => {
    const write = vi.fn()
    vi.spyOn(console, 'error').mockImplementation(write)
    vi.spyOn(console, 'warn').mockImplementation(write)
    const { log } = resolveCoreOptions({})
    log({ level: 'info', event: 'a' })
    log({ level: 'warn', event: 'b' })
    log({ level: 'error', event: 'c', message: 'two\nlines' })
    expect(write.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([{ event: 'b' }, { event: 'c' }])
    expect(write.mock.calls[1]?.[0]).not.toContain('\n')
  })

  it('logs nothing where logging is off', () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => {})
    resolveCoreOptions({ logger: false }).log({ level: 'error', event: 'a' })
    expect(write).not.toHaveBeenCalled()
  })
})
