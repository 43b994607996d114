import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { HostEvent } from '../bridge.js'
import { bridgeOver } from '../methods.js'
import { callChannel, eventChannel, listenChannel } from './channels.js'

// All that the page gets of Electron: a function for each method of the bridge, and one to listen. It never sees ipcRenderer, with
// which it could send anything anywhere, nor the events of IPC, which hold it.
contextBridge.exposeInMainWorld('sidecar', bridgeOver(
  (method, parameters) => ipcRenderer.invoke(callChannel(method), ...parameters),
  (listener) => {
    const told = (_event: IpcRendererEvent, value: HostEvent) => listener(value)
    ipcRenderer.on(eventChannel, told)
    ipcRenderer.send(listenChannel)
    return () => void ipcRenderer.off(eventChannel, told)
  },
))
