/** Keys are issued, listed, changed, rotated, revoked and deleted. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { filesIn } from '../run-host/folder.ts'
import {
  bearer,
  change,
  issue,
  keysOf,
  manage,
  managed,
  own,
  revoke,
  rotate,
  run,
  type Server,
  short,
} from './client.ts'
import { ADMIN, OTHER } from './service.ts'

const KEY = /^sk_servable_([0-9A-Za-z]{16})_[0-9A-Za-z]{49}$/
const REFUSED = '401 unauthorized'

export function keepingCases(server: Server): void {
  it('issues a key once, which lets its owner in', async () => {
    const owner = own('ada')
    const answer = await manage(server, 'POST', '', { owner, name: 'laptop', scopes: ['run', 'approver'] })
    expect(answer.status, answer.text).toBe(201)
    const issued = JSON.parse(answer.text)
    expect(KEY.exec(issued.key)?.[1]).toBe(issued.id)
    const { key, ...view } = issued
    expect(view).toEqual({
      id: issued.id,
      owner,
      name: 'laptop',
      scopes: ['run', 'approver'],
      roles: [],
      rate: null,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: null,
      lastUsedAt: null,
      rotatedAt: null,
      revokedAt: null,
    })
    const ran = await run(server, key)
    expect(ran.status, ran.text).toBe(200)
    expect(JSON.parse(ran.text).text).toBe(`hi by ${owner}`)
    const shown = await manage(server, 'GET', `/${issued.id}`)
    expect(Object.keys(JSON.parse(shown.text)).sort()).toEqual(Object.keys(view).sort())
    const secret = key.slice(-49)
    expect(shown.text + (await manage(server, 'GET', `?owner=${owner}`)).text).not.toContain(secret)
    expect(server().log()).not.toContain(secret)
    const { folder } = server()
    const files = folder === undefined ? [] : [...(await filesIn(folder)).values()]
    for (const bytes of files) expect(bytes.includes(secret)).toBe(false)
  })

  it('says when a key was used last', async () => {
    const issued = await issue(server)
    expect(short(await run(server, issued.key))).toBe('200')
    await eventually(async () => {
      const { lastUsedAt } = await managed<typeof issued>(server, 'GET', `/${issued.id}`)
      expect(Date.parse(lastUsedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(issued.createdAt))
    })
  })

  it('lets in who has another token, and nobody else', async () => {
    expect(short(await run(server, OTHER))).toBe('200')
    expect(short(await run(server, 'nothing'))).toBe(REFUSED)
    const { key } = await issue(server)
    const end = key.endsWith('0') ? '1' : '0'
    // A checksum that is wrong, a secret that is wrong, and more than a key.
    for (const wrong of [key.slice(0, -1) + end, `${key}0`, key.toUpperCase(), `${key} ${key}`]) {
      expect(short(await run(server, wrong))).toBe(REFUSED)
    }
    const other = await issue(server)
    const mixed = key.slice(0, 29) + other.key.slice(29)
    expect(short(await run(server, mixed))).toBe(REFUSED)
    expect(short(await run(server, key))).toBe('200')
  })

  it('opens the routes of administrators to no key and no other token', async () => {
    const { id, key } = await issue(server, { scopes: ['all', 'approver'] })
    for (const token of [key, OTHER, 'nothing']) {
      expect(short(await manage(server, 'GET', '', undefined, token))).toBe(REFUSED)
      expect(short(await manage(server, 'POST', '', {}, token))).toBe(REFUSED)
      expect(short(await manage(server, 'DELETE', `/${id}`, undefined, token))).toBe(REFUSED)
    }
    expect(short(await run(server, ADMIN))).toBe(REFUSED)
  })

  it('lists keys newest first, those of an owner alone', async () => {
    const owner = own('ada')
    const ids: string[] = []
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      ids.push((await issue(server, { owner, name })).id)
    await issue(server)
    const found = await keysOf(server, owner)
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(ids))
    const times = found.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().reverse())
    expect(await keysOf(server, own('nobody'))).toEqual([])
  })

  it('changes a key at once', async () => {
    const issued = await issue(server)
    expect(short(await run(server, issued.key))).toBe('200')
    const rate = { max: 5, windowMs: 60_000 }
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    expect(await change(server, issued, { name: 'new', scopes: ['read'], rate, expiresAt })).toMatchObject({
      ...{ id: issued.id, owner: issued.owner, name: 'new', scopes: ['read'], rate, expiresAt },
    })
    expect(short(await run(server, issued.key))).toBe('403 insufficient_scope')
    const back = { scopes: ['run'], rate: null, expiresAt: null }
    expect(await change(server, issued, back)).toMatchObject({ ...back, name: 'new' })
    expect(await change(server, issued, {})).toMatchObject({ ...back, name: 'new' })
    expect(short(await run(server, issued.key))).toBe('200')
  })

  it('rotates a key at once, or lets the old one be good for a while', async () => {
    const issued = await issue(server)
    expect(short(await run(server, issued.key))).toBe('200')
    const second = await rotate(server, issued)
    expect(second).toMatchObject({ id: issued.id, owner: issued.owner, rotatedAt: expect.any(String) })
    expect(short(await run(server, issued.key))).toBe(REFUSED)
    expect(short(await run(server, second.key))).toBe('200')
    const third = await rotate(server, issued, { graceMs: 3_600_000 })
    expect(short(await run(server, second.key))).toBe('200')
    expect(short(await run(server, third.key))).toBe('200')
    expect(short(await run(server, issued.key))).toBe(REFUSED)
    const fourth = await rotate(server, issued, { graceMs: 1 })
    expect(short(await run(server, second.key))).toBe(REFUSED)
    await eventually(async () => expect(short(await run(server, third.key))).toBe(REFUSED))
    expect(short(await run(server, fourth.key))).toBe('200')
  })

  it('revokes a key at once, for good', async () => {
    const issued = await issue(server)
    expect(short(await run(server, issued.key))).toBe('200')
    const revoked = await revoke(server, issued)
    expect(short(await run(server, issued.key))).toBe(REFUSED)
    expect(revoked.revokedAt).toEqual(expect.any(String))
    expect(await revoke(server, issued)).toEqual(revoked)
    const path = `/${issued.id}`
    expect(short(await manage(server, 'PATCH', path, { name: 'x' }))).toBe('409 caller_key_revoked')
    expect(short(await manage(server, 'POST', `${path}/rotate`, {}))).toBe('409 caller_key_revoked')
    expect(await managed(server, 'GET', path)).toEqual(revoked)
  })

  it('refuses a key that has expired', async () => {
    const issued = await issue(server, { expiresAt: new Date(Date.now() + 2000).toISOString() })
    await eventually(async () => expect(short(await run(server, issued.key))).toBe(REFUSED))
    // It was good before, or the administrator may let it be good again.
    await change(server, issued, { expiresAt: null })
    expect(short(await run(server, issued.key))).toBe('200')
  })

  it('knows only the keys that it has', async () => {
    for (const id of ['0123456789abcdef', 'x', '%00', 'a'.repeat(5000)]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', {}],
        ['POST', '/rotate', {}],
        ['DELETE', '', undefined],
      ] as const) {
        expect(short(await manage(server, method, `/${id}${path}`, body))).toBe('404 caller_key_not_found')
      }
    }
  })

  it.each([
    ['nothing', {}, /owner/],
    ['an empty owner', { owner: '' }, /owner/],
    ['an owner that begins with a space', { owner: ' ada' }, /owner/],
    ['an owner with a line feed', { owner: 'ada\n' }, /owner/],
    ['an owner with a NUL', { owner: 'a\0da' }, /owner/],
    ['an owner with half a surrogate pair', { owner: 'ada\ud800' }, /owner/],
    ['a name with a control character', { name: 'lap\u001btop' }, /name/],
    ['a long owner', { owner: 'a'.repeat(257) }, /owner/],
    ['an empty name', { name: '' }, /name/],
    ['no scopes', { scopes: [] }, /scopes/],
    ['a scope that is none', { scopes: ['runn'] }, /scopes.*read, run, all/],
    ['too many scopes', { scopes: Array(101).fill('run') }, /scopes/],
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00Z' }, /expiresAt.*future/],
    ['a time that is none', { expiresAt: 12 }, /expiresAt/],
    ['a rate of nothing', { rate: { max: 0 } }, /rate.max/],
    ['what nobody knows', { admin: true }, /admin/],
  ])('refuses a body with %s', async (what, wrong, told) => {
    const body = what === 'nothing' ? {} : { owner: 'ada', name: 'x', scopes: ['run'], ...wrong }
    const answer = await manage(server, 'POST', '', body)
    expect(short(answer)).toBe('400 invalid_body')
    expect(JSON.parse(answer.text).detail).toMatch(told)
  })

  it('refuses a grace, a limit and a cursor that are none', async () => {
    const { id } = await issue(server)
    for (const graceMs of [-1, 0.5, 'x', 1e12])
      expect(short(await manage(server, 'POST', `/${id}/rotate`, { graceMs }))).toBe('400 invalid_body')
    for (const query of ['limit=0', 'limit=101', 'cursor=x', 'owner='])
      expect(short(await manage(server, 'GET', `?${query}`))).toBe('400 invalid_query')
  })

  it('deletes the keys of an owner whose data is deleted', async () => {
    const owner = own('ada')
    const keys = await Promise.all([issue(server, { owner, scopes: ['all'] }), issue(server, { owner })])
    const other = await issue(server)
    const url = `${server().url}/api/users/me`
    const answer = await fetch(url, { method: 'DELETE', headers: bearer(keys[0]!.key) })
    expect(answer.status, await answer.text()).toBe(204)
    for (const { key } of keys) expect(short(await run(server, key))).toBe(REFUSED)
    expect(await keysOf(server, owner)).toEqual([])
    expect(short(await run(server, other.key))).toBe('200')
  })
}
