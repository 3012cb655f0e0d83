/**
 * The OpenAPI 3.0.3 document of a handler. It is made at each request, so it includes what was registered later.
 *
 * @module
 */

import type { Builders, Description, Operations, Schema } from '../../core/builders.ts'
import type { Core, MountedPlugin } from '../../core/built-in.ts'
import { hasIndex } from '../../core/handler.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { SecurityRequirement, SecuritySettings } from '../../http/security/security.ts'
import { createBuilders } from './builders.ts'
import {
  type CompleteDescription,
  checkDescription,
  createClaims,
  isOnRuns,
  readDescription,
} from './descriptions.ts'
import type { SwaggerSettings } from './options.ts'
import { describeRuns } from './run-operations.ts'
import { type DocumentSecurity, demanded } from './security.ts'
import { describeDiscovery, describeIndex, describeService } from './service-operations.ts'

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: '3.0.3'
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: SwaggerSettings['servers']
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Operations>>
  /** The default requirements of operations. A request has to satisfy one of them. */
  readonly security?: readonly SecurityRequirement[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, Schema>>
  }
}

/** Tags that are shown first, in this order. All others follow. */
const SHOWN_FIRST = ['run', 'runs', 'discovery', 'metrics', 'admin']

/** Makes the document. If a plugin's description is not valid, it is logged and left out. */
export function createDocument(
  core: Core,
  swagger: SwaggerSettings,
  settings: SecuritySettings,
): OpenApiDocument {
  const { prefix, catalog, mounted } = core
  const { title, version, description, servers, routePrefix = prefix, specPath } = swagger
  const security: DocumentSecurity = { ...settings, providers: core.settings.providers }
  const build = createBuilders({ prefix: routePrefix, catalog, security })
  const claim = createClaims()
  const own = (each: Description) => claim(readDescription(each))
  const runs = own(describeRuns(build, { hasUploads: core.uploads !== undefined, security }))
  const hasLists = core.settings.registry !== undefined
  const discovery = own(describeDiscovery(build, { hasLists, specPath }))
  const index = own(describeIndex(build, hasIndex(core)))
  const service = own(describeService(build))
  const plugins = mounted.flatMap(each => describePlugin(each, build, core)).map(claim)
  const shown = [
    runs,
    discovery,
    ...plugins.filter(isOnRuns),
    index,
    ...plugins.filter(each => !isOnRuns(each)),
    service,
  ]
  return {
    openapi: '3.0.3',
    info: { title, version, ...(description !== undefined && { description }) },
    ...(servers !== undefined && { servers }),
    ...joined(shown),
    ...demanded(security),
  }
}

function describePlugin(
  plugin: MountedPlugin,
  build: Builders,
  { log }: Core,
): readonly CompleteDescription[] {
  try {
    return plugin.describe === undefined ? [] : [readDescription(checkDescription(plugin.describe(build)))]
  } catch (error) {
    logThrown(log, { event: 'plugin.failed', plugin: plugin.name }, error)
    return []
  }
}

function joined(all: readonly CompleteDescription[]): Pick<OpenApiDocument, 'tags' | 'paths' | 'components'> {
  const paths = new Map<string, Operations>()
  for (const [path, operations] of all.flatMap(each => Object.entries(each.paths)))
    paths.set(path, { ...operations, ...paths.get(path) })
  const tags = all.flatMap(each => each.tags)
  return {
    tags: tags.toSorted((one, other) => positionOf(one) - positionOf(other)),
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.assign({}, ...all.map(({ bodies }) => bodies), ...all.map(({ schemas }) => schemas)),
      securitySchemes: Object.assign({}, ...all.map(each => each.securitySchemes)),
    },
  }
}

function positionOf({ name }: { readonly name: string }): number {
  const position = SHOWN_FIRST.indexOf(name)
  return position === -1 ? SHOWN_FIRST.length : position
}
