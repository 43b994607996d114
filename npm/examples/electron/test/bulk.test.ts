import { expect, test } from 'vitest'
import { many, titles } from './support/history.js'
import { onEachStage } from './support/stage.js'
import { askToDeleteMany, conversations, row, rows, said, select } from './support/steps.js'
import { beginTurn, holdWriteLock, idsIn, newHome } from './support/store.js'

onEachStage((stage) => {
  test('many go at once, with progress, and come back with one undo', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await select(page, titles.kyoto, titles.arabic, titles.long)
    await page.getByRole('region', { name: '3 conversations selected' }).getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Delete the selected…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 3 conversations?' })
    await dialog.getByText('3 conversations will go: 7 sessions with 14 messages.').waitFor()
    const release = await holdWriteLock(home)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    const running = page.getByRole('dialog', { name: 'Deleting 3 conversations' })
    const bar = running.getByRole('progressbar', { name: 'Progress of the delete' })
    await bar.waitFor()
    expect(await bar.getAttribute('aria-valuetext')).toBe('0 of 3')
    await release()
    await said(page, '3 conversations were deleted.')
    await rows(conversations(page), 7)
    expect(idsIn(home)).toHaveLength(8)
    await page.getByRole('button', { name: 'Undo' }).click()
    await said(page, '3 conversations are back')
    await rows(conversations(page), 10)
    expect(idsIn(home)).toHaveLength(15)
  })

  test('many can be stopped, and it is said what was done and what was not', async () => {
    const home = newHome(many(150)), { page } = await stage.open(home)
    await row(page, /Conversation 1\b/).click()
    await conversations(page).focus()
    for (let i = 0; i < 3; i++) await page.keyboard.press('End')
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Select all that are loaded' }).click()
    await page.getByRole('button', { name: 'Delete the selected…' }).click()
    const dialog = page.getByRole('dialog', { name: /^Delete 1[05]0 conversations\?$/ })
    await dialog.getByText('conversations will go').waitFor()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    const running = page.getByRole('dialog', { name: /^Deleting 1[05]0 conversations$/ })
    await running.getByText(/^[1-9]\d* of 1[05]0$/).waitFor()
    const release = await holdWriteLock(home) // so that it does not finish under our hands
    await running.getByRole('button', { name: 'Stop' }).click()
    const outcome = page.getByRole('dialog', { name: /conversations? (is|are) deleted$/ })
    await outcome.getByText(/^\d+ (was|were) not done any more, because you stopped it\.$/).waitFor()
    await release()
    const deleted = Number.parseInt(await outcome.getByRole('heading').innerText())
    expect(deleted).toBeGreaterThan(0)
    expect(idsIn(home)).toHaveLength(150 - deleted)
    await outcome.getByRole('button', { name: 'Done' }).click()
    await said(page, `${150 - deleted} conversations`)
  })

  test('a page that is loaded anew lets nothing go on that it cannot show', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDeleteMany(page, titles.kyoto, titles.arabic)
    const release = await holdWriteLock(home)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog', { name: 'Deleting 2 conversations' }).waitFor()
    await page.reload()
    await rows(conversations(page), 10) // asked for after the cancel, by the same way
    await release()
    await page.getByRole('button', { name: 'Refresh' }).first().click()
    await rows(conversations(page), 10)
    expect(idsIn(home)).toHaveLength(15)
  })

  test('stopped before the first one, nothing was deleted', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDeleteMany(page, titles.kyoto, titles.arabic)
    const release = await holdWriteLock(home)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog', { name: 'Deleting 2 conversations' }).getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('dialog', { name: 'Nothing was deleted' }).getByText('2 were not done any more, because you stopped it.').waitFor()
    await release()
    expect(idsIn(home)).toHaveLength(15)
  })

  test('of many, one that is in use is left alone and named', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDeleteMany(page, titles.tax, titles.arabic, titles.long)
    beginTurn(home, 'tax')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    const outcome = page.getByRole('dialog', { name: '2 conversations are deleted' })
    await outcome.getByText('1 was left alone:').waitFor()
    await outcome.getByText(/“Steuererklärung 2025”: In use by pid=812:turn=3/).waitFor()
    expect(idsIn(home)).toContain('tax')
    expect(idsIn(home)).toHaveLength(13)
  })
})
