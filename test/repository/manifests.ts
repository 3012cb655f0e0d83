/** The YAML files of `deploy`, as objects. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../runtimes/process.ts'

/** An object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own.
  readonly spec: any
}

/** Reads YAML by the parser that Bun has: an array for several documents. */
export async function parsedYaml<T>(path: string): Promise<T> {
  const program = 'console.log(JSON.stringify(Bun.YAML.parse(await Bun.file(process.argv.at(-1)).text())))'
  const bun = join(root, 'node_modules/.bin/bun')
  const { stdout } = await promisify(execFile)(bun, ['-e', program, path])
  return JSON.parse(stdout)
}

/** The objects of `deploy/kubernetes.yaml`. */
export const manifests = () => parsedYaml<KubernetesObject[]>(join(root, 'deploy/kubernetes.yaml'))
