/**
 * Loaded before a bot under test (`node --import`): what is asked of `https://files.slack.com` comes from the fake Slack. The bot
 * takes files from addresses with TLS alone, and from none on this machine.
 */
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

const { request } = https

https.request = ((url: URL | string, options: https.RequestOptions, onAnswer: never) => {
  const { hostname, pathname } = new URL(String(url))
  if (hostname !== 'files.slack.com') return request(url, options, onAnswer)
  const { headers, signal } = options
  return http.request(new URL(pathname, process.env.FAKE_SLACK), { headers, signal }, onAnswer)
}) as typeof https.request

syncBuiltinESMExports()
