import { after } from 'next/server'
import { nextHandlers } from 'servable/next'
import { handler } from '../../../service.ts'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = nextHandlers(handler, { waitUntil: after })
