import { expect, it, onTestFinished, vi } from 'vitest'
import { unrefed } from '../../src/base/wake.ts'

it('is no timer that keeps a process alive: an object of Node and Bun, a number of Deno', () => {
  const unrefTimer = vi.fn()
  vi.stubGlobal('Deno', { unrefTimer })
  onTestFinished(() => void vi.unstubAllGlobals())
  const timer = setTimeout(() => {}, 1000)
  expect(unrefed(timer)).toBe(timer)
  expect(timer.hasRef()).toBe(false)
  clearTimeout(timer)
  expect(unrefed(7)).toBe(7)
  expect(unrefTimer.mock.calls).toEqual([[7]])
})
