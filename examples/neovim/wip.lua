-- The language server of WIP IDL for Neovim, 0.7 or later.
--
--   require("wip").setup()
--   require("wip").setup({ cmd = { "/opt/wipagent/bin/wipagent", "idl", "lsp" } })

local M = { cmd = { "wipagent", "idl", "lsp" } }

local clients = {} -- by root, for Neovim before 0.8

-- root returns the nearest folder above a file that holds a wip.toml or a
-- repository; the file's own folder if there is none. A buffer that is no file
-- belongs to the current folder.
local function root(path)
  local here = vim.fn.fnamemodify(path:match("^%a[%w+.-]*://") and "" or path, ":p:h")
  local dir = here
  while true do
    for _, mark in ipairs({ "/wip.toml", "/.git" }) do
      if vim.loop.fs_stat(dir .. mark) then
        return dir
      end
    end
    local up = vim.fn.fnamemodify(dir, ":h")
    if up == dir then
      return here
    end
    dir = up
  end
end

-- attach starts the server for a buffer, or shares the one of its folder.
function M.attach(buffer)
  local dir = root(vim.api.nvim_buf_get_name(buffer))
  local config = { name = "wipagent", cmd = M.cmd, root_dir = dir, capabilities = vim.lsp.protocol.make_client_capabilities() }
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  config.on_exit = function()
    clients[dir] = nil
  end
  clients[dir] = clients[dir] or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, clients[dir])
  return clients[dir]
end

function M.setup(options)
  M.cmd = options and options.cmd or M.cmd
  local group = vim.api.nvim_create_augroup("wip", { clear = true })
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    group = group,
    pattern = "*.wip",
    callback = function()
      vim.bo.filetype = "wip"
    end,
  })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = "wip",
    callback = function(event)
      vim.bo[event.buf].commentstring = "// %s"
      vim.bo[event.buf].omnifunc = "v:lua.vim.lsp.omnifunc"
      M.attach(event.buf)
    end,
  })
end

return M
