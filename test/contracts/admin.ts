/** The contract of the admin routes, for every deployment. */
import { describe, type SuiteOptions } from 'vitest'
import { guardingCases } from './admin/guarding.ts'
import { managingCases } from './admin/managing.ts'
import { refusingCases } from './admin/refusing.ts'
import { signingInCases } from './admin/signing-in.ts'
import type { Deployment } from './runs/client.ts'
import { served } from './served.ts'

/** Runs the contract against the server that `deploy` starts. */
export function adminContract(
  name: string,
  deploy: () => Promise<Deployment>,
  options: SuiteOptions = {},
): void {
  describe(`admin on ${name}`, options, () => {
    const server = served(deploy)
    describe('tool servers', () => managingCases(server))
    describe('sign-ins', () => signingInCases(server))
    describe('refusals', () => refusingCases(server))
    describe('administrators', () => guardingCases(server))
  })
}

/** What the contract says of the store. */
export function adminStateContract(deploy: () => Promise<Deployment>): void {
  const server = served(deploy)
  describe('tool servers', () => managingCases(server))
  describe('sign-ins', () => signingInCases(server))
  describe('administrators', () => guardingCases(server))
}
