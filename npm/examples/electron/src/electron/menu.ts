import { app, Menu, type MenuItemConstructorOptions } from 'electron'

/** The menu. Without its roles no text could be copied or pasted by keys on macOS. */
export function setMenu(): void {
  const mac: MenuItemConstructorOptions[] = process.platform === 'darwin' ? [{ role: 'appMenu' }] : [{ role: 'fileMenu' }]
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
    ...(app.isPackaged ? [] : ([{ role: 'reload' }, { role: 'toggleDevTools' }] as MenuItemConstructorOptions[])),
  ]
  Menu.setApplicationMenu(Menu.buildFromTemplate([...mac, { role: 'editMenu' }, { role: 'viewMenu', submenu: view }, { role: 'windowMenu' }]))
}
