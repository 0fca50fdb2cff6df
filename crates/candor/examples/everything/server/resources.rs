//! Resources, one of them made from its URI. The library leaves them alone.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::fixtures::{IMAGE, KEEP_MS, text};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

/// All resources.
pub(super) fn list() -> ListResourcesResult {
    ListResourcesResult::with_all_items(vec![
        Resource::new(TEXT, "Static text")
            .with_description("A text")
            .with_mime_type("text/plain"),
        Resource::new(BINARY, "Static binary")
            .with_description("An image")
            .with_mime_type("image/png"),
    ])
    .with_ttl_ms(KEEP_MS)
    .with_cache_scope(CacheScope::Public)
}

/// The one template.
pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new("test://template/{id}/data", "Data by id")
            .with_description("Data of one id")
            .with_mime_type("application/json"),
    ])
    .with_ttl_ms(KEEP_MS)
    .with_cache_scope(CacheScope::Public)
}

/// One resource.
pub(super) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri {
        TEXT => text(
            uri,
            "text/plain",
            "This is the content of the static text resource.",
        ),
        BINARY => ResourceContents::BlobResourceContents {
            uri: uri.into(),
            mime_type: Some("image/png".into()),
            blob: IMAGE.into(),
            meta: None,
        },
        _ => from_template(uri).ok_or_else(|| {
            ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({ "uri": uri })))
        })?,
    };
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(KEEP_MS)
        .with_cache_scope(CacheScope::Public))
}

fn from_template(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(text(uri, "application/json", data.to_string()))
}
