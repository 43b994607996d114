import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { start } from 'session-sidecar'
import { expect, test } from 'vitest'
import { titles } from './support/history.js'
import { onEachStage } from './support/stage.js'
import { askToDelete, openView, quoted, row, rows, said } from './support/steps.js'
import { binary, idsIn, newHome } from './support/store.js'

const trash = (page: Page) => page.getByRole('listbox', { name: 'Trash' })
const kept = (home: string) => readdirSync(join(home, 'trash')).filter((name) => name.endsWith('.ndjson.gz'))

async function deleteThem(page: Page, ...all: string[]): Promise<void> {
  for (const title of all) {
    const dialog = await askToDelete(page, title)
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `${quoted(title)} was deleted.`)
    await dialog.waitFor({ state: 'detached' })
  }
}

onEachStage((stage) => {
  test('the trash is looked through, and restored from', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await deleteThem(page, titles.arabic, titles.kyoto)
    await openView(page, 'Trash')
    await rows(trash(page), 2)
    await trash(page).getByRole('option', { name: titles.kyoto }).click()
    const detail = page.getByRole('region', { name: 'The deleted conversation' })
    await detail.getByText('30 days left').waitFor()
    await detail.getByText('kyoto-rail-fares').waitFor()
    await detail.getByRole('button', { name: 'Restore' }).click()
    await said(page, `“${titles.kyoto}” is back, under a new id.`)
    await rows(trash(page), 1)
    await openView(page, 'Conversations')
    await row(page, titles.kyoto).waitFor()
    expect(idsIn(home).filter((id) => id.startsWith('restored-'))).toHaveLength(5)
    expect(kept(home)).toHaveLength(1)
  })

  test('one entry, or all of them, is erased after a question', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await deleteThem(page, titles.arabic, titles.kyoto, titles.backup)
    await openView(page, 'Trash')
    await trash(page).getByRole('option', { name: titles.arabic }).click()
    await page.getByRole('button', { name: 'Erase…' }).click()
    const one = page.getByRole('dialog', { name: `Erase ${quoted(titles.arabic)} for good?` })
    await one.getByText('It cannot be taken back any more.').waitFor()
    await one.getByRole('button', { name: 'Erase for good' }).click()
    await said(page, '1 entry was erased.')
    await rows(trash(page), 2)
    expect(kept(home)).toHaveLength(2)
    await page.keyboard.press('ControlOrMeta+z')
    await said(page, 'What was deleted last cannot be taken back.')
    expect(kept(home)).toHaveLength(2)
    await page.getByRole('button', { name: 'Empty the trash…' }).click()
    const all = page.getByRole('dialog', { name: 'Erase all 2 entries for good?' })
    await all.getByRole('button', { name: 'Cancel' }).click()
    expect(kept(home)).toHaveLength(2)
    await page.getByRole('button', { name: 'Empty the trash…' }).click()
    await all.waitFor()
    const beside = await start({ binary }) // as another app may, while the question stands there
    const late = await beside.state_db.delete_cli_session({ profile_home: home, session_id: 'nara', keep_days: 30 })
    await beside.close()
    await all.getByRole('button', { name: 'Erase for good' }).click()
    await said(page, '2 entries were erased.')
    expect(kept(home)).toEqual([expect.stringContaining(late.trash!.operation_id)])
    await rows(trash(page), 1)
    await page.getByRole('button', { name: 'Empty the trash…' }).click()
    await page.getByRole('dialog', { name: 'Erase 1 entry for good?' }).getByRole('button', { name: 'Erase for good' }).click()
    await said(page, 'The trash is empty')
    expect(kept(home)).toHaveLength(0)
  })

  test('an entry that cannot be read is named, and removed after a question', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await deleteThem(page, titles.arabic, titles.kyoto)
    const entry = join(home, 'trash', kept(home)[0]!)
    writeFileSync(entry, readFileSync(entry).subarray(0, 40))
    await openView(page, 'Trash')
    await rows(trash(page), 1)
    await said(page, '1 entry cannot be read')
    await page.getByRole('button', { name: /^Remove / }).click()
    await page.getByRole('dialog', { name: /^Erase .* for good\?$/ }).getByRole('button', { name: 'Erase for good' }).click()
    await said(page, '1 entry was erased.')
    expect(kept(home)).toHaveLength(1)
    await rows(trash(page), 1)
    expect(await page.getByText('cannot be read').count()).toBe(0)
  })

  test('receipts are looked through and forgotten', async () => {
    const home = newHome(), { page } = await stage.open(home)
    await deleteThem(page, titles.kyoto, titles.arabic)
    await openView(page, 'Receipts')
    const receipts = page.getByRole('listbox', { name: 'Receipts' })
    await rows(receipts, 2)
    await receipts.getByRole('option', { name: /Receipt 1\b/ }).click()
    const detail = page.getByRole('region', { name: 'The receipt' })
    await detail.getByText('kyoto-rail-fares').waitFor()
    await detail.getByText('A user asked for it').waitFor()
    await page.getByRole('button', { name: 'Forget up to here…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Forget all receipts up to 1?' })
    await dialog.getByRole('button', { name: 'Forget them' }).click()
    await said(page, '1 receipt was forgotten.')
    await rows(receipts, 1)
    await receipts.getByRole('option', { name: /Receipt 2\b/ }).waitFor()
  })
})
