import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alone, kyoto, titles } from './support/history.js'
import { onEachStage } from './support/stage.js'
import { askToDelete, conversations, openView, row, rows, said } from './support/steps.js'
import { beginTurn, endTurn, idsIn, newHome, rowsOf, runSQL, until } from './support/store.js'

onEachStage((stage) => {
  test('a delete says in words what will happen, does it, and can be undone', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    await dialog.getByText('2 parts of the conversation and 3 helpers that worked for it will go, with 10 messages.').waitFor()
    await dialog.getByText('1 session that hangs on it stays, as a conversation of its own.').waitFor()
    expect(await dialog.getByRole('radio', { name: /Keep it in the trash for 30 days/ }).isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
    await said(page, /You can take it back until/)
    await dialog.waitFor({ state: 'detached' })
    await rows(conversations(page), 9)
    for (const id of kyoto.ids) expect(idsIn(home)).not.toContain(id)
    expect(idsIn(home)).toContain(kyoto.branch)
    await page.getByRole('button', { name: 'Undo' }).click()
    await said(page, `“${titles.kyoto}” is back`)
    await row(page, titles.kyoto).waitFor()
    expect(idsIn(home)).toHaveLength(15)
  })

  test('a delete that is thought better of does nothing', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await askToDelete(page, titles.kyoto)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(idsIn(home)).toHaveLength(15)
  })

  test('what has grown under the question is shown, not deleted', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    runSQL(home, rowsOf({ ...alone('late', 'Compare two hotels', 0, 'Compare two hotels.'), parent: 'kyoto-2', how: 'delegate', source: 'subagent' }))
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText('Something was added to this conversation meanwhile. Nothing was deleted.').waitFor()
    await dialog.getByText('New: Compare two hotels').waitFor()
    await dialog.getByText('2 parts of the conversation and 4 helpers').waitFor()
    expect(idsIn(home)).toHaveLength(16)
    await dialog.getByRole('button', { name: 'Delete all the same' }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
    expect(idsIn(home)).not.toContain('late')
  })

  test('what is in use by then is refused, and can be tried again', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    beginTurn(home, kyoto.root)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText(/In use by pid=812:turn=3, until .*2100/).waitFor()
    await dialog.getByText('A reply is being written.').waitFor()
    expect(idsIn(home)).toHaveLength(15)
    endTurn(home, kyoto.root)
    await dialog.getByRole('button', { name: 'Refresh' }).click()
    await dialog.getByText(/In use by/).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
  })

  test('a copy can be saved first', async () => {
    const home = newHome(), { page, copies } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    await dialog.getByRole('button', { name: 'Save a copy first…' }).click()
    await dialog.getByText(/A copy was saved as .*\.json/).waitFor()
    const [name] = readdirSync(copies)
    expect(readFileSync(join(copies, name!), 'utf8')).toContain('Arashiyama')
    expect(idsIn(home)).toHaveLength(15)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
  })

  test('to erase at once says what of it is left, and leaves nothing in the trash', async () => {
    const home = newHome(), { page } = await stage.open(home)
    const question = await askToDelete(page, titles.kyoto)
    await question.getByRole('radio', { name: /Erase it now/ }).check()
    await question.getByText('It cannot be taken back.').waitFor()
    await question.getByRole('button', { name: 'Erase now' }).click()
    const report = page.getByRole('dialog', { name: `“${titles.kyoto}” is deleted` })
    await report.getByText('The text of this conversation is overwritten in the history’s file.').waitFor()
    await report.getByText('No search index holds any deleted word any more.').waitFor()
    await report.getByText('The history’s log is empty.').waitFor()
    await report.getByRole('button', { name: 'Done' }).click()
    await openView(page, 'Trash')
    await said(page, 'The trash is empty')
    expect(idsIn(home)).toHaveLength(10)
  })

  test('what could not be removed is shown with its cause until it is gone', async () => {
    const home = newHome()
    mkdirSync(join(home, 'sessions', 'kyoto-2.jsonl', 'inside'), { recursive: true })
    const { page } = await stage.open(home)
    const dialog = await askToDelete(page, titles.kyoto)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, 'The conversation is deleted, but some of its files could not be removed yet.')
    await page.getByRole('navigation').getByText('1 left to do').waitFor({ state: 'attached' })
    await openView(page, 'Clean-up')
    await said(page, 'A file of it could not be removed: another program holds it, or it is a folder.')
    await page.getByRole('main').getByText('kyoto-2').waitFor()
    await page.getByRole('button', { name: 'Clean up now' }).click()
    await said(page, '1 thing is still left.')
    renameSync(join(home, 'sessions', 'kyoto-2.jsonl'), join(home, 'away'))
    await said(page, 'Nothing is left to clean up')
    await until('the sign is gone', async () => (await page.getByRole('navigation').getByText('left to do').count()) === 0)
  })
})
