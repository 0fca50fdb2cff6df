//! The methods whose meaning Candor needs; every other passes unread.

/// A JSON-RPC method of MCP, as far as Candor acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `tools/call`: the judged one.
    ToolsCall,
    /// `tools/list`: tool definitions are learnt from its answer.
    ToolsList,
    /// `initialize`: tells the host's name, the server's name and the revision in force (legacy).
    Initialize,
    /// `server/discover`: tells the server's name (2026-07-28).
    Discover,
    /// `notifications/initialized`: the legacy handshake is over.
    Initialized,
    /// `notifications/cancelled`: names a request by its id.
    Cancelled,
    /// `notifications/progress`: names a request by its progress token.
    Progress,
    /// `notifications/tools/list_changed`: what was learnt is stale.
    ToolListChanged,
    /// `logging/setLevel`: told again to a server that is started anew.
    SetLevel,
    /// `resources/subscribe`: likewise.
    Subscribe,
    /// `resources/unsubscribe`: takes a subscription back.
    Unsubscribe,
    /// `subscriptions/listen` (2026-07-28): asked again of a server that is started anew.
    Listen,
    /// `resources/templates/list`: Candor's own is added to its answer where that is wanted.
    TemplatesList,
    /// Anything else.
    Other,
}

impl Method {
    /// Reads a method's name.
    pub fn of(name: &str) -> Self {
        match name {
            "tools/call" => Self::ToolsCall,
            "tools/list" => Self::ToolsList,
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            "notifications/initialized" => Self::Initialized,
            "notifications/cancelled" => Self::Cancelled,
            "notifications/progress" => Self::Progress,
            "notifications/tools/list_changed" => Self::ToolListChanged,
            "logging/setLevel" => Self::SetLevel,
            "resources/subscribe" => Self::Subscribe,
            "resources/unsubscribe" => Self::Unsubscribe,
            "subscriptions/listen" => Self::Listen,
            "resources/templates/list" => Self::TemplatesList,
            _ => Self::Other,
        }
    }
}
