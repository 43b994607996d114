import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alone, bigFamily, history, kyoto, many, titles } from './support/history.js'
import { onEachStage } from './support/stage.js'
import { askToDelete, choose, conversations, openView, row, rows, said, titlesIn } from './support/steps.js'
import { beginTurn, idsIn, newHome, rowsOf, runSQL, until } from './support/store.js'

onEachStage((stage) => {
  test('the list shows each conversation with its size and last activity, the newest first', async () => {
    const home = newHome()
    beginTurn(home, 'tax')
    const { page } = await stage.open(home)
    await rows(conversations(page), 10)
    expect((await titlesIn(conversations(page))).slice(0, 4)).toEqual([titles.tax, 'Nara with the children?', titles.arabic, titles.kyoto])
    const [kyoto, tax] = [await row(page, titles.kyoto).innerText(), await row(page, titles.tax).innerText()]
    expect(kyoto).toContain('2 parts · 10 messages · 419 bytes')
    expect(kyoto).toContain('Nov 12')
    expect(kyoto).not.toContain('In use')
    expect(tax).toContain('In use')
    await said(page, '10 conversations')
  })

  test('search finds as one types, and says so where nothing is found', async () => {
    const { page } = await stage.open(newHome())
    await rows(conversations(page), 10)
    const field = page.getByRole('searchbox', { name: 'Search conversations' })
    await field.pressSequentially('bambo')
    await rows(conversations(page), 2)
    expect(await titlesIn(conversations(page))).toEqual(['Nara with the children?', titles.kyoto])
    await field.fill('OR "bamboo* NOT (')
    await said(page, 'Nothing found for “OR "bamboo* NOT (”')
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await rows(conversations(page), 10)
  })

  test('what the Agent adds meanwhile comes with a refresh', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await rows(conversations(page), 10)
    runSQL(home, rowsOf(alone('new', 'Something new', 0, 'Hello?')))
    await page.getByRole('button', { name: 'Refresh' }).click()
    await row(page, 'Something new').waitFor()
    expect((await titlesIn(conversations(page)))[0]).toBe('Something new')
  })

  test('a long list comes page by page', async () => {
    const { page } = await stage.open(newHome(many(230)))
    await row(page, /Conversation 1\b/).waitFor()
    await conversations(page).focus()
    await until('the last one is reached', async () => {
      await page.keyboard.press('End')
      return row(page, /Conversation 230\b/).isVisible()
    })
    await said(page, '230 conversations')
    expect(await conversations(page).getByRole('option').count()).toBeLessThan(60)
  })

  test('the picture of a family says what goes, what stays and why', async () => {
    const { page } = await stage.open(newHome())
    await choose(page, titles.kyoto)
    const family = page.getByRole('listbox', { name: `What goes and what stays of ${titles.kyoto}` })
    await rows(family, 6)
    const names = await family.getByRole('option').evaluateAll((members) => members.map((one) => one.getAttribute('aria-label')))
    expect(names).toEqual(expect.arrayContaining([
      `${titles.kyoto}, 2 messages. Goes: the conversation that was chosen`,
      'Fetch single fares, 2 messages. Goes: worked for the conversation',
      expect.stringMatching(/branched off; a conversation of its own\. Stays/),
    ]))
    await said(page, '5 sessions go')
    await said(page, '1 session stays')
    await family.focus()
    const current = () => family.locator('[aria-selected=true]').getAttribute('aria-label')
    const first = await current()
    await page.keyboard.press('ArrowDown')
    expect(await current()).not.toBe(first)
    await page.getByRole('radio', { name: 'List' }).check()
    await page.getByRole('group', { name: 'What a delete takes' }).getByText('Vegetarian restaurants near Gion').waitFor()
  })

  test('the picture of 300 sessions can be walked through and zoomed by keys', async () => {
    const { page } = await stage.open(newHome(bigFamily(300)))
    await choose(page, 'Read the whole archive')
    const family = page.getByRole('listbox', { name: /What goes and what stays/ })
    await rows(family, 300)
    const zoom = page.locator('output')
    expect(Number.parseInt(await zoom.innerText())).toBeGreaterThanOrEqual(80)
    await family.focus()
    await page.keyboard.press('0')
    await until('all of it is shown', async () => Number.parseInt(await zoom.innerText()) < 80)
    const [fitted, small] = [await zoom.innerText(), page.getByRole('button', { name: 'Zoom in' })]
    await small.click()
    expect(Number.parseInt(await zoom.innerText())).toBeGreaterThan(Number.parseInt(fitted))
    await family.focus()
    await page.keyboard.press('End')
    const last = family.locator('[aria-selected=true]')
    expect(await last.getAttribute('aria-posinset')).toBe('300')
    await until('it is seen', () => last.evaluate((one) => {
      const [card, box] = [one.getBoundingClientRect(), one.closest('.picture-box')!.getBoundingClientRect()]
      return card.left >= box.left - 1 && card.right <= box.right + 1 && card.top >= box.top - 1 && card.bottom <= box.bottom + 1
    }))
  })

  test('a conversation that is in use says by whom and until when', async () => {
    const home = newHome()
    beginTurn(home, 'tax')
    const { page } = await stage.open(home)
    await choose(page, titles.tax)
    await said(page, /In use by pid=812:turn=3, until .*2100/)
    await said(page, 'It cannot be deleted as long as that lasts.')
  })

  test('a profile without a history says so', async () => {
    const home = newHome([])
    const { page } = await stage.open(home)
    await said(page, 'No conversations yet')
  })

  test('without any profile it says how to name one', async () => {
    const { page } = await stage.open([])
    await said(page, 'No profile found')
  })

  test('each profile has conversations of its own, and a delete in one leaves the others alone', async () => {
    const [mine, work] = [newHome(), newHome(history().slice(0, 7))]
    const { page } = await stage.open([mine, work])
    await rows(conversations(page), 10)
    await page.getByRole('combobox', { name: 'Profile' }).selectOption('Work')
    await rows(conversations(page), 3)
    const dialog = await askToDelete(page, titles.kyoto)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
    await rows(conversations(page), 2)
    await page.getByRole('combobox', { name: 'Profile' }).selectOption('Mine')
    await rows(conversations(page), 10)
    expect(idsIn(mine)).toHaveLength(15)
    expect(idsIn(work)).toHaveLength(2)
  })

  test('a history that cannot be read says why, and is read again when it can', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await rows(conversations(page), 10)
    renameSync(join(home, 'state.db'), join(home, 'away.db'))
    await page.getByRole('button', { name: 'Refresh' }).click()
    await said(page, 'There is no conversation history in this profile.')
    renameSync(join(home, 'away.db'), join(home, 'state.db'))
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await rows(conversations(page), 10)
    await until('nothing says so any more', async () => (await page.getByText('There is no conversation history').count()) === 0)
  })

  test('several views are there, each with its own words where it is empty', async () => {
    const { page } = await stage.open(newHome(history().filter(({ id }) => !kyoto.ids.includes(id) && id !== kyoto.branch)))
    await openView(page, 'Trash')
    await said(page, 'The trash is empty')
    await openView(page, 'Receipts')
    await said(page, 'No receipts')
    await openView(page, 'Clean-up')
    await said(page, 'Nothing is left to clean up')
  })
})
