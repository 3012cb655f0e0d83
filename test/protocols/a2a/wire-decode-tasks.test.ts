import { describe, expect, it } from 'vitest'
import { DIALECTS, messageOf, refusal, V1, V03, V03_REST } from './requests.ts'

const named = DIALECTS.map(dialect => [dialect.name, dialect] as const)

const NOT_OBJECTS = [undefined, null, 'text', 7, true, [], [{}]]

describe.each(named)('decode.get, cancel and subscribe of %s', (_, { wire }) => {
  it('reads an id', () => {
    expect(wire.decode.get({ id: 't', more: 1 })).toEqual({ id: 't' })
    expect(wire.decode.cancel({ id: 't', metadata: {} })).toEqual({ id: 't' })
    expect(wire.decode.subscribe({ id: 't' })).toEqual({ id: 't' })
  })

  it.each([{}, { id: '' }, { id: 7 }, { id: null }, ...NOT_OBJECTS])('refuses %j', params => {
    for (const method of ['get', 'cancel', 'subscribe'] as const) {
      expect(refusal(() => wire.decode[method](params))?.code).toBe('invalid_params')
    }
  })

  it('reads historyLength', () => {
    expect(wire.decode.get({ id: 't', historyLength: 2 }).historyLength).toBe(2)
    for (const historyLength of [-1, 1.5, '-1', '1.5', 'x', '', ' 1', true, [], {}]) {
      expect(refusal(() => wire.decode.get({ id: 't', historyLength }))?.fields).toEqual(['historyLength'])
    }
  })
})

describe('a historyLength of zero', () => {
  it('asks for none in 1.0 and in JSON-RPC of 0.3, and is not set in protocol buffers of 0.3', () => {
    expect(V1.wire.decode.get({ id: 't', historyLength: '0' }).historyLength).toBe(0)
    expect(V03.wire.decode.get({ id: 't', historyLength: 0 }).historyLength).toBe(0)
    expect(V03_REST.wire.decode.get({ id: 't', historyLength: '0' }).historyLength).toBeUndefined()
    const sent = { message: messageOf(V03_REST), configuration: { historyLength: 0 } }
    expect(V03_REST.wire.decode.send(sent).configuration.historyLength).toBeUndefined()
  })
})

describe('decode.list', () => {
  it.each(named)('of %s has defaults, without parameters too', (_, { wire }) => {
    for (const params of [undefined, null, {}]) {
      expect(wire.decode.list(params)).toEqual({ pageSize: 50, includeArtifacts: false })
    }
  })

  it('reads JSON', () => {
    const params = {
      contextId: 'c',
      status: 'TASK_STATE_INPUT_REQUIRED',
      pageSize: 1,
      pageToken: 'p',
      historyLength: 0,
      statusTimestampAfter: '2026-01-31T12:00:00.5Z',
      includeArtifacts: true,
    }
    expect(V1.wire.decode.list(params)).toEqual({
      contextId: 'c',
      state: 'input-required',
      pageSize: 1,
      pageToken: 'p',
      historyLength: 0,
      updatedAfter: Date.UTC(2026, 0, 31, 12, 0, 0, 500),
      includeArtifacts: true,
    })
  })

  it('reads query parameters', () => {
    const params = {
      pageSize: '100',
      historyLength: '2',
      includeArtifacts: 'true',
      status: 'TASK_STATE_WORKING',
    }
    expect(V1.wire.decode.list(params)).toEqual({
      pageSize: 100,
      historyLength: 2,
      includeArtifacts: true,
      state: 'working',
    })
  })

  it('takes empty text and the state that stands for none as not set', () => {
    const params = {
      contextId: '',
      pageToken: '',
      status: 'TASK_STATE_UNSPECIFIED',
      includeArtifacts: 'false',
    }
    expect(V1.wire.decode.list(params)).toEqual({ pageSize: 50, includeArtifacts: false })
  })

  it('reads states as each wire names them', () => {
    expect(V1.wire.decode.list({ status: 'TASK_STATE_CANCELED' }).state).toBe('canceled')
    expect(V03.wire.decode.list({ status: 'canceled' }).state).toBe('canceled')
    expect(V03_REST.wire.decode.list({ status: 'TASK_STATE_CANCELLED' }).state).toBe('canceled')
  })

  it.each([
    ['pageSize', [0, 101, -1, 1.5, '0', '101', 'ten', '', true, {}, '1e1', '0x5']],
    ['historyLength', [-1, '-1', 'x']],
    ['status', ['TASK_STATE_RUNNING', 'working', 'TASK_STATE_CANCELLED', 1, '', 'constructor']],
    [
      'statusTimestampAfter',
      [
        '',
        'yesterday',
        '2026-01-31',
        '2026-02-30T00:00:00Z',
        '2026-13-01T00:00:00Z',
        '2026-01-31T24:00:00Z',
        '2026-01-31T00:00:00',
        0,
        1_700_000_000_000,
      ],
    ],
    ['includeArtifacts', ['yes', 'TRUE', 1, 0, '', []]],
    ['contextId', [7, {}]],
    ['pageToken', [7]],
  ])('refuses a wrong %s', (field, values) => {
    for (const value of values) {
      expect(refusal(() => V1.wire.decode.list({ [field]: value }))).toMatchObject({
        code: 'invalid_params',
        fields: [field],
      })
    }
  })

  it('takes moments with an offset', () => {
    const { updatedAfter } = V1.wire.decode.list({ statusTimestampAfter: '2026-01-31T14:00:00+02:00' })
    expect(updatedAfter).toBe(Date.UTC(2026, 0, 31, 12))
  })

  it('refuses parameters that are no object', () => {
    for (const params of ['x', 7, true, []]) {
      expect(refusal(() => V1.wire.decode.list(params))?.code).toBe('invalid_params')
    }
  })
})
