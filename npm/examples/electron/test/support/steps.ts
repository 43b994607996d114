import { expect } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { until } from './store.js'

// What a user does in the app, by what they see or hear: roles and names, as a screen reader tells them.

export const conversations = (page: Page): Locator => page.getByRole('listbox', { name: 'Conversations' })

/** A conversation in the list. */
export const row = (page: Page, title: string | RegExp): Locator => conversations(page).getByRole('option', { name: title })

/** The titles of a list, in the order that it gives them. What is scrolled far away is not in the document. */
export const titlesIn = (list: Locator): Promise<string[]> => list.getByRole('option').evaluateAll((options) => options
  .sort((a, b) => Number(a.getAttribute('aria-posinset')) - Number(b.getAttribute('aria-posinset')))
  .map((option) => option.querySelector('.row-title')!.textContent!))

/** A title as sentences have it: one of another direction keeps to itself, between Unicode's isolates. */
export const quoted = (title: string): string => (/[\u0590-\u08ff]/.test(title) ? `“\u2068${title}\u2069”` : `“${title}”`)

export const openView = (page: Page, name: string): Promise<void> => page.getByRole('navigation').getByRole('button', { name }).click()

/** Chooses a conversation and waits until what belongs to it is shown. */
export async function choose(page: Page, title: string): Promise<void> {
  await row(page, title).click()
  await page.getByRole('heading', { level: 2, name: title }).waitFor()
  await page.getByRole('heading', { name: 'And besides' }).waitFor()
}

/** Asks to delete a conversation, and waits for the question in full. */
export async function askToDelete(page: Page, title: string): Promise<Locator> {
  await choose(page, title)
  await page.getByRole('button', { name: 'Delete…', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${quoted(title)}?` })
  await dialog.getByText('will go').waitFor()
  return dialog
}

/** Selects conversations by their boxes. */
export async function select(page: Page, ...titles: string[]): Promise<void> {
  for (const title of titles) await row(page, title).locator('[data-check]').click()
}

/** Selects conversations, asks to delete them, and waits for the question in full. */
export async function askToDeleteMany(page: Page, ...titles: string[]): Promise<Locator> {
  await select(page, ...titles)
  await page.getByRole('button', { name: 'Delete the selected…' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${titles.length} conversations?` })
  await dialog.getByText(`${titles.length} conversations will go`).waitFor()
  return dialog
}

/** Waits until a text is said somewhere on the page. */
export const said = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

/** Waits until a list shows so many rows. */
export async function rows(list: Locator, count: number): Promise<void> {
  await until(`there are ${count} rows`, async () => (await list.getByRole('option').count()) === count)
  expect(await list.getByRole('option').count()).toBe(count)
}
