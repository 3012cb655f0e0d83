import { describe, expect, it } from 'vitest'
import { urlOf } from '../../../src/protocols/encoders/parts.ts'

const RUN = 'runs/0b0d4f43-2f1c-4a4f-9d3c-6f3f3a0a9f57'

describe('urlOf', () => {
  it.each([
    'https://files.example/a.png',
    'data:image/png;base64,iVBORw0KGgo=',
    `/api/${RUN}/artifacts/chart`,
    `/${RUN}/input?part=2`,
  ])('leaves an address as it is: %s', address => {
    expect(urlOf(address, 'image/png')).toBe(address)
  })

  it.each(['iVBORw0KGgo=', '/9j/4AAQSkZJRgABAQ==', '/9j/runs/00000000', ''])(
    'makes one of base64: %s',
    data => {
      expect(urlOf(data, 'image/jpeg')).toBe(`data:image/jpeg;base64,${data}`)
    },
  )
})
