import { describe, expect, it, vi } from 'vitest'
import { type BusEventName, EventBus } from '../../src/index.ts'
import { untyped } from '../support.ts'

/** Every event of the specification's table. */
const NAMES: BusEventName[] = [
  'run.start',
  'run.complete',
  'run.error',
  'run.stream.chunk',
  'tool.call',
  'tool.result',
  'tool.error',
  'tool.approval.request',
  'tool.approval.response',
  'voice.session.start',
  'voice.session.end',
  'voice.tool.call',
  'voice.tool.result',
  'browser.step',
  'browser.action',
  'browser.done',
  'browser.error',
  'memory.extract',
  'memory.stored',
  'memory.error',
  'skill.loaded',
  'skill.learned',
]

describe('EventBus', () => {
  it.each(NAMES)('carries %s', name => {
    const bus = new EventBus()
    const listener = vi.fn()
    bus.on(name, listener)
    bus.emit(name, untyped({ a: 1 }))
    expect(listener).toHaveBeenCalledExactlyOnceWith({ a: 1 }, name)
  })

  it('calls the listeners of one event in the order in which they came, and no others', () => {
    const bus = new EventBus()
    const called: string[] = []
    bus.on('memory.stored', () => called.push('first'))
    bus.on('memory.stored', () => called.push('second'))
    bus.on('memory.error', () => called.push('other'))
    bus.emit('memory.stored', {})
    expect(called).toEqual(['first', 'second'])
  })

  it('calls nobody when nobody listens', () => {
    expect(() => new EventBus().emit('memory.stored', {})).not.toThrow()
  })

  it('takes a listener away once', () => {
    const bus = new EventBus()
    const listener = vi.fn()
    const off = bus.on('memory.stored', listener)
    bus.on('memory.stored', () => {})
    off()
    off()
    bus.emit('memory.stored', {})
    expect(listener).not.toHaveBeenCalled()
    expect(bus.size).toBe(1)
  })

  it('counts a listener that is added twice once', () => {
    const bus = new EventBus()
    const listener = vi.fn()
    bus.on('memory.stored', listener)
    bus.on('memory.stored', listener)
    bus.emit('memory.stored', {})
    expect(listener).toHaveBeenCalledTimes(1)
    expect(bus.size).toBe(1)
  })

  it('calls a listener of `once` once at the most', () => {
    const bus = new EventBus()
    const listener = vi.fn(() => bus.emit('memory.stored', { again: true }))
    bus.once('memory.stored', listener)
    bus.emit('memory.stored', { again: false })
    bus.emit('memory.stored', { again: true })
    expect(listener).toHaveBeenCalledExactlyOnceWith({ again: false }, 'memory.stored')
    expect(bus.size).toBe(0)
  })

  it('takes a listener of `once` away before it was called', () => {
    const bus = new EventBus()
    const listener = vi.fn()
    bus.once('memory.stored', listener)()
    bus.emit('memory.stored', {})
    expect(listener).not.toHaveBeenCalled()
  })

  it('goes on past a listener that throws, and drops the throw', () => {
    const bus = new EventBus()
    const listener = vi.fn()
    bus.on('memory.stored', () => {
      throw new Error('listener')
    })
    bus.on('memory.stored', listener)
    bus.emit('memory.stored', {})
    expect(listener).toHaveBeenCalledTimes(1)
  })

  it('tells `onListenerError` what a listener throws', () => {
    const onListenerError = vi.fn()
    const bus = new EventBus({ onListenerError })
    const error = new Error('listener')
    bus.on('memory.stored', () => {
      throw error
    })
    bus.emit('memory.stored', {})
    expect(onListenerError).toHaveBeenCalledExactlyOnceWith(error, 'memory.stored')
  })

  it('refuses more listeners than `maxListeners`, over all events', () => {
    const bus = new EventBus({ maxListeners: 2 })
    const off = bus.on('memory.stored', () => {})
    bus.on('memory.error', () => {})
    expect(() => bus.on('skill.loaded', () => {})).toThrow(RangeError)
    off()
    expect(() => bus.on('skill.loaded', () => {})).not.toThrow()
  })

  it('takes 1,000 listeners by default', () => {
    const bus = new EventBus()
    for (let i = 0; i < 1000; i++) bus.on('memory.stored', () => {})
    expect(bus.size).toBe(1000)
    expect(() => bus.on('memory.stored', () => {})).toThrow(RangeError)
  })

  it('keeps its defaults where an option is undefined', () => {
    const bus = new EventBus(untyped({ maxListeners: undefined, onListenerError: undefined }))
    bus.on('memory.stored', () => {
      throw new Error('listener')
    })
    expect(() => bus.emit('memory.stored', {})).not.toThrow()
    for (let i = 1; i < 1000; i++) bus.on('memory.stored', () => {})
    expect(() => bus.on('memory.stored', () => {})).toThrow(RangeError)
  })
})
