import { createRequire } from 'node:module'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { AxeResults } from 'axe-core'
import { expect, test } from 'vitest'
import { bigFamily, history, titles } from './support/history.js'
import { onEachStage, pictures } from './support/stage.js'
import { askToDelete, choose, conversations, openView, row, rows, said, select } from './support/steps.js'
import { beginTurn, newHome } from './support/store.js'

/** What the READMEs show. */
const forReadme = fileURLToPath(new URL('../../../../docs/example.png', import.meta.url))

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with what is shown now, a line for each place. */
async function faults(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(async () => {
    const scope = window as unknown as { axe?: { run(where: Document, options: object): Promise<AxeResults> } }
    return scope.axe!.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
  })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`))
}

onEachStage((stage) => {
  for (const dark of [false, true]) {
    const look = dark ? 'dark' : 'light'

    // It looks through fifteen views: on a machine with other work to do that takes longer than a test may otherwise.
    test(`every view can be read by everybody, in ${look}`, { timeout: 180_000 }, async () => {
      const home = newHome()
      mkdirSync(join(home, 'sessions', 'long.jsonl', 'inside'), { recursive: true })
      beginTurn(home, 'tax')
      const { page } = await stage.open(home, { dark })
      await page.evaluate(axe)
      const found: Record<string, string[]> = {}
      const check = async (view: string) => {
        const wrong = await faults(page)
        if (wrong.length > 0) found[view] = wrong
        await page.screenshot({ path: join(pictures, `${view}-${look}.png`), animations: 'disabled' })
        if (process.env.UPDATE && view === 'conversations' && !dark) copyFileSync(join(pictures, `${view}-${look}.png`), forReadme)
      }
      await rows(conversations(page), 10)
      await choose(page, titles.kyoto)
      await check('conversations')
      await page.getByRole('radio', { name: 'List' }).check()
      await check('family-list')
      await page.getByRole('radio', { name: 'Picture' }).check()
      await choose(page, titles.tax)
      await check('in-use')
      let dialog = await askToDelete(page, titles.kyoto)
      await check('delete')
      await page.keyboard.press('Escape')
      dialog = await askToDelete(page, titles.long)
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await check('deleted')
      dialog = await askToDelete(page, titles.borscht)
      await dialog.getByRole('radio', { name: /Erase it now/ }).check()
      await dialog.getByRole('button', { name: 'Erase now' }).click()
      await said(page, 'No search index holds any deleted word any more.')
      await check('erased')
      await page.getByRole('button', { name: 'Done' }).click()
      await select(page, titles.arabic, titles.backup)
      await check('selected')
      await page.getByRole('button', { name: 'Delete the selected…' }).click()
      await said(page, '2 conversations will go')
      await check('delete-many')
      await page.keyboard.press('Escape')
      await page.getByRole('searchbox').fill('nobody said this')
      await said(page, 'Nothing found')
      await check('nothing-found')
      for (const [view, shown] of [['Trash', 'option'], ['Receipts', 'option'], ['Clean-up', 'heading']] as const) {
        await openView(page, view)
        await page.getByRole('main').getByRole(shown).first().waitFor()
        if (shown === 'option') await page.getByRole('main').getByRole('option').first().click()
        await check(view.toLowerCase())
      }
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
      await page.getByRole('dialog').waitFor()
      await check('shortcuts')
      expect(found).toEqual({})
    })
  }

  test('read from the right, with long titles, nothing is cut off or pushed out', async () => {
    const home = newHome([...history(), ...bigFamily(300)])
    const { page } = await stage.open(home, { width: 900, height: 640 })
    await rows(conversations(page), 11)
    await page.evaluate(() => { document.documentElement.dir = 'rtl' })
    await page.evaluate(axe)
    for (const [title, name] of [[titles.long, 'rtl'], ['Read the whole archive', 'rtl-family']] as const) {
      await choose(page, title)
      expect(await pushedOut(page)).toEqual([])
      expect(await faults(page)).toEqual([])
      await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' })
    }
    const [nav, list] = [await page.getByRole('navigation').boundingBox(), await conversations(page).boundingBox()]
    expect(nav!.x).toBeGreaterThan(list!.x)
    const dialog = await askToDelete(page, titles.long)
    expect(await pushedOut(page)).toEqual([])
    await page.screenshot({ path: join(pictures, 'rtl-delete.png'), animations: 'disabled' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('it fits a small window, and a large one with text at double size', async () => {
    const { page } = await stage.open(newHome(), { width: 640, height: 480 })
    await choose(page, titles.long)
    expect(await pushedOut(page)).toEqual([])
    await page.screenshot({ path: join(pictures, 'small.png'), animations: 'disabled' })
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.evaluate(() => { document.documentElement.style.fontSize = '200%' })
    await row(page, titles.kyoto).click()
    expect(await pushedOut(page)).toEqual([])
    await page.screenshot({ path: join(pictures, 'large-text.png'), animations: 'disabled' })
  })

  test('without colours, contrasts or movement that a user has turned off, it still says all', async () => {
    const { page } = await stage.open(newHome())
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
    await choose(page, titles.kyoto)
    await page.screenshot({ path: join(pictures, 'forced-colours.png'), animations: 'disabled' })
    const ticked = await conversations(page).locator('.check-box svg').evaluateAll((marks) => marks.filter((one) => {
      const { visibility, opacity, display } = getComputedStyle(one)
      return visibility !== 'hidden' && opacity !== '0' && display !== 'none'
    }).length)
    expect(ticked).toBe(0)
    const moving = await page.evaluate(() => document.getAnimations().filter((one) => one.playState === 'running' && one.effect?.getComputedTiming().iterations === Infinity).length)
    expect(moving).toBe(0)
  })
})

/** What would have to be scrolled to sideways, or lies outside the window. */
function pushedOut(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const out: string[] = []
    if (document.documentElement.scrollWidth > innerWidth) out.push(`the page is ${document.documentElement.scrollWidth} wide`)
    for (const one of document.querySelectorAll('button, input, h1, h2, h3, [role=option]:not(svg *), dialog[open]')) {
      const { left, right, width } = one.getBoundingClientRect()
      if (width > 1 && (left < -1 || right > innerWidth + 1) && !one.classList.contains('skip')) out.push(one.outerHTML.slice(0, 100))
    }
    return out
  })
}
