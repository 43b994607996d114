import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { kyoto, titles } from './support/history.js'
import { onEachStage } from './support/stage.js'
import { conversations, row, rows, said } from './support/steps.js'
import { idsIn, newHome } from './support/store.js'

const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '')

onEachStage((stage) => {
  test('all can be done by keys alone: search, look, delete, undo, the trash', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const { keyboard } = page
    await rows(conversations(page), 10)
    await keyboard.press('ControlOrMeta+f')
    expect(await focused(page)).toBe('Search conversations')
    await keyboard.type('bamboo')
    await rows(conversations(page), 2)
    await keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('Conversations')
    await keyboard.press('End')
    await page.getByRole('heading', { level: 2, name: titles.kyoto }).waitFor()
    await keyboard.press('Delete')
    const dialog = page.getByRole('dialog', { name: `Delete “${titles.kyoto}”?` })
    await dialog.getByText('will go').waitFor()
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Conversations')
    await keyboard.press('Delete')
    await dialog.getByText('will go').waitFor()
    expect(await focused(page)).toBe('Delete')
    await keyboard.press('Enter')
    await said(page, `“${titles.kyoto}” was deleted.`)
    expect(idsIn(home)).not.toContain(kyoto.root)
    await dialog.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Conversations')
    await keyboard.press('ControlOrMeta+z')
    await said(page, `“${titles.kyoto}” is back`)
    await row(page, titles.kyoto).waitFor()
    await keyboard.press('ControlOrMeta+2')
    await said(page, 'The trash is empty')
    await keyboard.press('ControlOrMeta+1')
    await keyboard.press('F6')
    await keyboard.press('F6')
    expect(await focused(page)).not.toBe('')
  })

  test('conversations are selected by keys, one by one and in ranges', async () => {
    const { page } = await stage.open(newHome())
    const { keyboard } = page
    await rows(conversations(page), 10)
    await conversations(page).focus()
    await keyboard.press('Home')
    await keyboard.press('Space')
    await said(page, '1 selected')
    await keyboard.press('Shift+ArrowDown')
    await keyboard.press('Shift+ArrowDown')
    await said(page, '3 selected')
    await keyboard.press('ControlOrMeta+a')
    await said(page, '10 selected')
    await keyboard.press('Escape')
    expect(await page.getByText(/\d selected/).count()).toBe(0)
  })

  test('the tab key reaches everything, in the order in which it is read', async () => {
    const { page } = await stage.open(newHome())
    await rows(conversations(page), 10)
    await row(page, titles.kyoto).click()
    await page.getByRole('heading', { name: 'And besides' }).waitFor()
    await page.evaluate(() => { // to the beginning, as in a window that was just opened
      document.body.tabIndex = -1
      document.body.focus()
      document.body.removeAttribute('tabindex')
    })
    const reached: string[] = []
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      const name = await page.evaluate(() => {
        const at = document.activeElement
        if (at === null || at === document.body) return ''
        const labels = at instanceof HTMLInputElement ? [...(at.labels ?? [])].map((label) => label.textContent) : []
        return (at.getAttribute('aria-label') ?? labels[0] ?? at.textContent ?? '').trim()
      })
      if (name === '') break
      reached.push(name)
    }
    const order = ['Skip to the list', 'Conversations', 'Trash', 'Receipts', 'Clean-up', 'Keyboard shortcuts', 'Refresh', 'Search conversations', 'Conversations', 'Save a copy…', 'Delete…']
    expect(reached.filter((name) => order.includes(name))).toEqual(order)
    expect(reached.some((name) => name.startsWith('What goes and what stays of'))).toBe(true)
  })

  test('each place that has the focus shows it', async () => {
    const { page } = await stage.open(newHome())
    await rows(conversations(page), 10)
    await row(page, titles.kyoto).click()
    await page.getByRole('heading', { name: 'And besides' }).waitFor()
    const silent: string[] = []
    for (let i = 0; i < 25; i++) {
      await page.keyboard.press('Tab')
      const plain = await page.evaluate(() => {
        const at = document.activeElement
        if (at === null || at === document.body) return ''
        const marks = [at, ...at.querySelectorAll('*'), at.nextElementSibling, at.parentElement].filter((one) => one !== null)
        const shown = marks.some((one) => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
        })
        return shown ? '' : at.outerHTML.slice(0, 120)
      })
      if (plain !== '') silent.push(plain)
    }
    expect(silent).toEqual([])
  })
})
