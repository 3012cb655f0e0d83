import { after } from 'next/server'
import { route } from 'servable/next'
import { handler } from '../../service.ts'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(handler, { waitUntil: after })
