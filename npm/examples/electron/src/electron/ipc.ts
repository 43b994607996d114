import { ipcMain, type WebContents } from 'electron'
import type { Bridge } from '../bridge.js'
import { invoke } from '../host/invoke.js'
import { methods } from '../methods.js'
import { callChannel, eventChannel, listenChannel } from './channels.js'
import { isOurs } from './guard.js'

/** Answers the page: one channel for each method of the bridge. What is not our page gets an error and nothing else. */
export function answerCalls(host: Bridge): void {
  for (const method of methods) {
    ipcMain.handle(callChannel(method), (event, ...parameters: unknown[]) => {
      if (!isOurs(event.senderFrame)) throw new Error('this page may not ask')
      return method === 'deleteMany' ? whileThere(event.sender, parameters, host, () => invoke(host, method, parameters)) : invoke(host, method, parameters)
    })
  }
}

/** A page that was reloaded or closed can neither show nor stop what it has begun: that is cancelled, and stops before the next one. */
async function whileThere<T>(page: WebContents, parameters: unknown[], host: Bridge, work: () => Promise<T>): Promise<T> {
  const job = (parameters[2] as { job?: unknown } | null | undefined)?.job
  const leave = () => void (typeof job === 'string' && host.cancel(job))
  page.once('did-navigate', leave)
  page.once('destroyed', leave)
  try {
    return await work()
  } finally {
    page.off('did-navigate', leave)
    page.off('destroyed', leave)
  }
}

/** Tells the page what the host tells, from when it asks for that. A page that was loaded anew asks anew. */
export function tellEvents(host: Bridge): void {
  let stop = () => {}
  ipcMain.on(listenChannel, ({ sender, senderFrame }) => {
    if (!isOurs(senderFrame)) return
    stop()
    const stopListening = host.listen((event) => {
      if (!sender.isDestroyed()) sender.send(eventChannel, event)
    })
    sender.once('destroyed', stopListening)
    stop = () => {
      stopListening()
      sender.off('destroyed', stopListening)
    }
  })
}
