import { ipcMain, type WebContents } from 'electron'
import type { Bridge } from '../bridge.js'
import { invoke, type WhenGone } from '../host/invoke.js'
import { methods } from '../methods.js'
import { callChannel, eventChannel, listenChannel } from './channels.js'
import { isOurs } from './guard.js'

/** Answers the page: one channel for each method of the bridge. What is not our page gets an error and nothing else. */
export function answerCalls(host: Bridge): void {
  for (const method of methods) {
    ipcMain.handle(callChannel(method), (event, ...parameters: unknown[]) => {
      if (!isOurs(event.senderFrame)) throw new Error('this page may not ask')
      return invoke(host, method, parameters, whenGone(event.sender))
    })
  }
}

/** A page is gone when its window or its process is, and when another one, or itself anew, stands in its place. */
const whenGone = (page: WebContents): WhenGone => (leave) => {
  page.once('did-navigate', leave)
  page.once('destroyed', leave)
  page.once('render-process-gone', leave)
  return () => {
    page.off('did-navigate', leave)
    page.off('destroyed', leave)
    page.off('render-process-gone', leave)
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
