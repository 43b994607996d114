import { expect, test } from 'vitest'
import { kyoto, titles } from './support/history.js'
import { onEachStage, runsAgain } from './support/stage.js'
import { askToDelete, conversations, rows, said } from './support/steps.js'
import { holdWriteLock, idsIn, newHome } from './support/store.js'

onEachStage((stage) => {
  test('a sidecar that is killed in the middle of a delete is started again, and all of it is said', async () => {
    const home = newHome(), app = await stage.open(home), { page } = app
    const dialog = await askToDelete(page, titles.kyoto)
    const release = await holdWriteLock(home), pid = (await app.sidecar())!
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog', { name: `Deleting “${titles.kyoto}”` }).waitFor()
    process.kill(pid, 'SIGKILL')
    await said(page, 'The program that deletes conversations has stopped. Try again in a moment.')
    await runsAgain(app, pid)
    await release()
    await said(page, 'The program that deletes conversations runs again.')
    expect(idsIn(home)).toHaveLength(15)
    await rows(conversations(page), 10)
    await dialog.getByText('2 parts of the conversation').waitFor()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await said(page, `“${titles.kyoto}” was deleted.`)
    expect(idsIn(home)).not.toContain(kyoto.root)
  })

  test('a sidecar that is killed while nobody asks is said to have stopped, and the list stays', async () => {
    const app = await stage.open(newHome()), { page } = app
    await rows(conversations(page), 10)
    const pid = (await app.sidecar())!
    process.kill(pid, 'SIGKILL')
    await said(page, 'The program that deletes conversations has stopped.')
    await rows(conversations(page), 10)
    await said(page, 'The program that deletes conversations runs again.')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await rows(conversations(page), 10)
  })
})
