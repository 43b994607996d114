import { request, type OutgoingHttpHeaders } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Host } from '../src/host/host.js'
import { serve, type Server } from '../src/web/server.js'
import { kyoto } from './support/history.js'
import { binary, idsIn, newHome } from './support/store.js'

const page = new Map([['/', { body: Buffer.from('<!doctype html>'), type: 'text/html; charset=utf-8' }]])

async function served(home = newHome()): Promise<{ server: Server; token: string; home: string }> {
  const host = new Host({ homes: [{ key: 'p', name: 'Mine', home }], binary, where: async () => undefined })
  const server = await serve(host, page)
  onTestFinished(async () => {
    await server.close()
    await host.close()
  })
  return { server, home, token: new URL(server.url).hash.slice('#token='.length) }
}

type Answer = { status: number; headers: Record<string, unknown>; body: string }

/** A request as any program can make it: with whatever headers it likes. */
function ask({ origin }: Server, path: string, method: string, headers: OutgoingHttpHeaders, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece) => { text += piece })
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body: text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const allowed = (server: Server, token: string) => ({ 'Origin': server.origin, 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json' })
const deletion = JSON.stringify({ method: 'delete', parameters: ['p', kyoto.root, { mode: 'erase', expectedIds: kyoto.ids, job: 'j' }] })

describe('the Node host', () => {
  test('answers its own page', async () => {
    const { server, token, home } = await served()
    const answer = await ask(server, '/api/call', 'POST', allowed(server, token), deletion)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toMatchObject({ ok: true, value: { ok: true } })
    expect(idsIn(home)).not.toContain(kyoto.root)
  })

  test('deletes nothing for anybody else', async () => {
    const { server, token, home } = await served()
    const before = idsIn(home), own = allowed(server, token), port = new URL(server.origin).port
    const { Origin: _, ...noOrigin } = own, { Authorization: __, ...noToken } = own
    const refused: [string, number, OutgoingHttpHeaders][] = [
      ['no token', 403, noToken],
      ['an empty token', 403, { ...own, Authorization: 'Bearer ' }],
      ['half a token', 403, { ...own, Authorization: `Bearer ${token.slice(0, 20)}` }],
      ['another token', 403, { ...own, Authorization: `Bearer ${'x'.repeat(token.length)}` }],
      ['the token in another form', 403, { ...own, Authorization: token }],
      ['no origin, as a program that is no browser', 403, noOrigin],
      ['another page’s origin', 403, { ...own, Origin: 'https://example.org' }],
      ['the origin of a file', 403, { ...own, Origin: 'null' }],
      ['the origin of another server here', 403, { ...own, Origin: `http://127.0.0.1:${Number(port) + 1}` }],
      ['our origin by another name', 403, { ...own, Origin: `http://localhost:${port}` }],
      ['a foreign name that leads here', 421, { ...own, Host: `example.org:${port}` }],
      ['a foreign name and its origin', 421, { ...own, Host: `example.org:${port}`, Origin: `http://example.org:${port}` }],
      ['our host by another name', 421, { ...own, Host: `localhost:${port}` }],
      ['a form’s type, which needs no leave', 415, { ...own, 'Content-Type': 'text/plain' }],
    ]
    for (const [what, status, headers] of refused) {
      expect((await ask(server, '/api/call', 'POST', headers, deletion)).status, what).toBe(status)
      if (status !== 415) expect((await ask(server, '/api/events', 'POST', headers)).status, `events: ${what}`).toBe(status)
    }
    expect((await ask(server, '/api/call', 'GET', own)).status).toBe(405)
    expect((await ask(server, '/api/call', 'OPTIONS', { 'Origin': 'https://example.org', 'Access-Control-Request-Method': 'POST' })).headers)
      .not.toHaveProperty('access-control-allow-origin')
    expect(idsIn(home)).toEqual(before)
  })

  test('takes nothing that is no call', async () => {
    const { server, token } = await served()
    const own = allowed(server, token)
    expect((await ask(server, '/api/call', 'POST', own, '{')).status).toBe(400)
    for (const body of ['null', '[]', '"x"', '{"method":"close","parameters":[]}', '{"method":"trash","parameters":{"0":"p"}}']) {
      expect(JSON.parse((await ask(server, '/api/call', 'POST', own, body)).body), body).toMatchObject({ ok: false, failure: { reason: 'invalid_call' } })
    }
    const tooLong = ask(server, '/api/call', 'POST', own, ' '.repeat((8 << 20) + 1)).then(({ status }) => status, (error: NodeJS.ErrnoException) => error.code)
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(await tooLong)
  })

  test('gives the page under a strict policy, and nothing else', async () => {
    const { server } = await served()
    const { status, headers, body } = await ask(server, '/', 'GET', {})
    expect([status, body]).toEqual([200, '<!doctype html>'])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|http|data:/)
    for (const path of ['/package.json', '/../package.json', '/%2e%2e/package.json', '//etc/passwd', '/index.html/', '/api', '/api/call/']) {
      expect((await ask(server, path, 'GET', {})).status, path).toBe(404)
    }
    expect((await ask(server, '/', 'POST', {})).status).toBe(405)
    expect((await ask(server, '/', 'HEAD', {})).body).toBe('')
  })

  test('has another token and another port in each run', async () => {
    const [one, other] = [await served(), await served()]
    expect(one.token).toMatch(/^[\w-]{43}$/)
    expect(one.token).not.toBe(other.token)
    expect(one.server.origin).not.toBe(other.server.origin)
    expect((await ask(other.server, '/api/call', 'POST', allowed(other.server, one.token), deletion)).status).toBe(403)
  })

  test('tells its page what happens, for as long as it listens', async () => {
    const { server, token } = await served()
    const headers = { Authorization: `Bearer ${token}`, Origin: server.origin }
    const told = await new Promise<string>((resolve, reject) => {
      const sent = request(`${server.origin}/api/events`, { method: 'POST', headers, agent: false }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece) => {
          text += piece
          if (!text.includes('"running"')) return
          resolve(text)
          sent.destroy()
        })
        answer.on('error', () => {})
      })
      sent.on('error', reject)
      sent.end()
    })
    expect(told.trim().split('\n').map((line) => JSON.parse(line)).at(-1)).toEqual({ kind: 'sidecar', state: 'running' })
  })
})
