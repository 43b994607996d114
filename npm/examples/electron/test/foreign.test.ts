import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { Host } from '../src/host/host.js'
import { readPage } from '../src/host/page.js'
import { serve } from '../src/web/server.js'
import { kyoto, titles } from './support/history.js'
import { inBrowser } from './support/stage.js'
import { row, said } from './support/steps.js'
import { binary, idsIn, newHome } from './support/store.js'

const built = fileURLToPath(new URL('../dist/page', import.meta.url))

inBrowser((browser) => {
  test('another page in the same browser deletes nothing, whatever it knows', async () => {
    const home = newHome(), before = idsIn(home)
    const host = new Host({ homes: [{ key: 'p', name: 'Mine', home }], binary, where: async () => undefined })
    const server = await serve(host, readPage(built))
    // Another server on this machine: the same site by the rules for cookies, so that only the origin tells it apart.
    const foreign = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>foreign</title><body>'))
    await new Promise<void>((resolve) => void foreign.listen(0, '127.0.0.1', resolve))
    const context = await browser().newContext()
    onTestFinished(async () => {
      await context.close()
      foreign.close()
      await server.close()
      await host.close()
    })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`)
    const token = new URL(server.url).hash.slice('#token='.length)
    const body = JSON.stringify({ method: 'delete', parameters: ['p', kyoto.root, { mode: 'erase', expectedIds: kyoto.ids, job: 'j' }] })

    const outcomes = await page.evaluate(async ({ origin, url, token, body }) => {
      const tried: Record<string, string> = {}
      const send = (name: string, options: RequestInit) => fetch(`${origin}/api/call`, { method: 'POST', body, ...options })
        .then((answer) => { tried[name] = `${answer.type} ${answer.status}` }, () => { tried[name] = 'failed' })
      await send('a simple request', {})
      await send('a request that asks for no leave', { mode: 'no-cors' })
      await send('with the token, if it ever leaked', { headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json' } })
      await fetch(origin).then(async (answer) => { tried['reading the page'] = await answer.text() }, () => { tried['reading the page'] = 'failed' })
      const frame = document.body.appendChild(document.createElement('iframe'))
      await new Promise((resolve) => {
        frame.onload = resolve
        frame.src = url
      })
      tried['a frame'] = String(frame.contentWindow?.length === 0 && frame.contentDocument === null)
      const form = Object.assign(document.createElement('form'), { method: 'post', action: `${origin}/api/call`, enctype: 'text/plain', target: 'other' })
      const field = Object.assign(document.createElement('input'), { name: body.slice(0, -1), value: '}' })
      form.append(field)
      document.body.append(form)
      const target = document.body.appendChild(Object.assign(document.createElement('iframe'), { name: 'other' }))
      await new Promise((resolve) => {
        target.onload = resolve
        form.submit()
      })
      return tried
    }, { origin: server.origin, url: server.url, token, body })

    expect(outcomes).toEqual({
      'a simple request': 'failed',
      'a request that asks for no leave': expect.stringMatching(/^(opaque 0|failed)$/),
      'with the token, if it ever leaked': 'failed',
      'reading the page': 'failed',
      'a frame': 'true',
    })
    const [frame] = page.frames().filter((one) => one.url().startsWith(server.origin) && one.url().includes('token'))
    expect(frame === undefined || (await frame.content()).includes(titles.kyoto)).toBe(frame === undefined)
    expect(idsIn(home)).toEqual(before)

    const own = await context.newPage()
    await own.goto(server.url)
    await row(own, titles.kyoto).waitFor()
    expect(own.url()).toBe(`${server.origin}/`)
    await own.reload()
    await row(own, titles.kyoto).waitFor()
    const other = await context.newPage()
    await other.goto(server.origin)
    await other.getByText('This page may not ask for that.').first().waitFor()
    expect(await other.getByText(titles.kyoto).count()).toBe(0)
  })

  test('of many pages that are open each works, since one that is hidden holds no connection', async () => {
    const host = new Host({ homes: [{ key: 'p', name: 'Mine', home: newHome() }], binary, where: async () => undefined })
    const server = await serve(host, readPage(built))
    const context = await browser().newContext()
    onTestFinished(async () => {
      await context.close()
      await server.close()
      await host.close()
    })
    const show = (page: Page, shown: boolean) => page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }) // as it is for a page behind another one
      document.dispatchEvent(new Event('visibilitychange'))
    }, !shown)
    const pages: Page[] = []
    for (let i = 0; i < 8; i++) { // a browser has six connections to one server
      const page = await context.newPage()
      await page.goto(server.url)
      await row(page, titles.kyoto).waitFor({ timeout: 10_000 })
      await show(page, false)
      pages.push(page)
    }
    const [first] = pages, pid = (await host.pid())!
    process.kill(pid, 'SIGKILL')
    await show(first!, true)
    await said(first!, 'The program that deletes conversations runs again.')
    expect(await pages[1]!.getByText('The program that deletes').count()).toBe(0)
  })

  test('a title that is markup is shown as it is', async () => {
    const title = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    const home = newHome([{ id: 'markup', title, source: 'desktop', at: 1_795_000_000, said: [title] }])
    const host = new Host({ homes: [{ key: 'p', name: 'Mine', home }], binary, where: async () => undefined })
    const server = await serve(host, readPage(join(built)))
    const context = await browser().newContext()
    onTestFinished(async () => {
      await context.close()
      await server.close()
      await host.close()
    })
    const page = await context.newPage()
    await page.goto(server.url)
    await row(page, title).click()
    await page.getByRole('heading', { level: 2, name: title }).waitFor()
    expect(await page.title()).not.toBe('1')
    expect(await page.locator('img, #app script').count()).toBe(0)
    // What would have to run, if there were a way in, may not.
    const blocked = await page.evaluate(() => new Promise<string>((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective))
      const script = document.createElement('script')
      try {
        script.textContent = 'document.title = 1'
        document.body.append(script)
      } catch {
        resolve('trusted types')
      }
    }))
    expect(blocked).toMatch(/trusted|script-src/)
    expect(await page.evaluate(() => {
      try {
        document.createElement('div').innerHTML = '<b>x</b>'
        return 'made'
      } catch {
        return 'refused'
      }
    })).toBe('refused')
  })
})
