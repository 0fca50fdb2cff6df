//! A form out of a JSON Schema: for authors who keep their schemas as JSON, and derive them from types.

use serde_json::{Map, Value};

use super::field::{Boolean, Choice, Choices, Field, Format, Integer, Known, Naming, Number, Text};
use super::form::{Form, FormFault, shape};

impl Form {
    /// A form with this message and the fields of a JSON Schema, which must be as the specification's `requestedSchema`
    /// allows: one object of plain values. `$schema`, `title` and `description` of the whole are left out.
    ///
    /// # Errors
    ///
    /// [`FormFault::Shape`] for what forms can't have (objects and lists inside, patterns), and whatever
    /// [`Form::check`] finds.
    pub fn from_schema(message: impl Into<String>, schema: &Value) -> Result<Self, FormFault> {
        let members = schema
            .as_object()
            .ok_or_else(|| shape("", "the schema is no object"))?;
        if members.get("type").and_then(Value::as_str) != Some("object") {
            return Err(shape("", "its type isn't \"object\""));
        }
        let known = [
            "$schema",
            "type",
            "title",
            "description",
            "properties",
            "required",
            "additionalProperties",
        ];
        if let Some(other) = members.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(shape("", format!("forms have no {other:?}")));
        }
        let required = texts("", members.get("required"))?.unwrap_or_default();
        let properties = members
            .get("properties")
            .and_then(Value::as_object)
            .ok_or_else(|| shape("", "it has no properties"))?;
        let mut form = Self::new(message);
        for (name, property) in properties {
            form.fields.push((name.clone(), field(name, property)?));
        }
        if let Some(missing) = required
            .iter()
            .find(|name| !properties.contains_key(name.as_str()))
        {
            return Err(shape(missing, "it is required and not there"));
        }
        form.required = required;
        form.check()?;
        Ok(form)
    }
}

/// One field's schema, by a look at every member: what isn't known is refused, not dropped.
fn field(name: &str, schema: &Value) -> Result<Field, FormFault> {
    let members = schema
        .as_object()
        .ok_or_else(|| shape(name, "its schema is no object"))?;
    let kind = members
        .get("type")
        .and_then(Value::as_str)
        .ok_or_else(|| shape(name, "it has no single type"))?;
    let mut reader = Reader {
        name,
        members,
        seen: vec!["type", "title", "description", "default"],
    };
    let field = match kind {
        "string" if members.contains_key("enum") || members.contains_key("oneOf") => reader.choice()?.into(),
        "string" => reader.text()?.into(),
        "number" => Number {
            title: reader.string("title")?,
            description: reader.string("description")?,
            least: reader.float("minimum")?,
            most: reader.float("maximum")?,
            default: reader.float("default")?,
        }
        .into(),
        "integer" => Integer {
            title: reader.string("title")?,
            description: reader.string("description")?,
            least: reader.whole("minimum")?,
            most: reader.whole("maximum")?,
            default: reader.whole("default")?,
        }
        .into(),
        "boolean" => Boolean {
            title: reader.string("title")?,
            description: reader.string("description")?,
            default: reader.yes_no("default")?,
        }
        .into(),
        "array" => reader.choices()?.into(),
        other => return Err(shape(name, format!("forms have no fields of type {other:?}"))),
    };
    reader.nothing_else()?;
    Ok(field)
}

/// Reads the members of one field's schema and keeps in mind which.
struct Reader<'a> {
    name: &'a str,
    members: &'a Map<String, Value>,
    seen: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn get(&mut self, member: &'static str) -> Option<&'a Value> {
        self.seen.push(member);
        self.members.get(member)
    }

    fn read<T>(
        &mut self,
        member: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, FormFault> {
        match self.get(member) {
            None => Ok(None),
            Some(value) => read(value)
                .map(Some)
                .ok_or_else(|| shape(self.name, format!("its {member:?} is of the wrong type"))),
        }
    }

    fn string(&mut self, member: &'static str) -> Result<Option<String>, FormFault> {
        self.read(member, |value| value.as_str().map(str::to_owned))
    }

    fn float(&mut self, member: &'static str) -> Result<Option<f64>, FormFault> {
        self.read(member, Value::as_f64)
    }

    fn whole(&mut self, member: &'static str) -> Result<Option<i64>, FormFault> {
        self.read(member, Value::as_i64)
    }

    fn count(&mut self, member: &'static str) -> Result<Option<u32>, FormFault> {
        self.read(member, |value| {
            value.as_u64().and_then(|count| u32::try_from(count).ok())
        })
    }

    fn yes_no(&mut self, member: &'static str) -> Result<Known, FormFault> {
        Ok(self.read(member, Value::as_bool)?.map_or(Known::No, Known::Is))
    }

    fn text(&mut self) -> Result<Text, FormFault> {
        let format = match self.string("format")? {
            None => None,
            Some(format) if format.eq_ignore_ascii_case("password") => {
                return Err(FormFault::Secret {
                    field: self.name.to_owned(),
                    by: "format",
                });
            }
            Some(format) => Some(
                Format::ALL
                    .into_iter()
                    .find(|known| known.name() == format)
                    .ok_or_else(|| {
                        shape(self.name, "forms know the formats email, uri, date and date-time")
                    })?,
            ),
        };
        Ok(Text {
            title: self.string("title")?,
            description: self.string("description")?,
            least: self.count("minLength")?,
            most: self.count("maxLength")?,
            format,
            default: self.string("default")?,
        })
    }

    fn choice(&mut self) -> Result<Choice, FormFault> {
        let (options, naming) = match self.get("oneOf") {
            Some(options) => (consts(self.name, options)?, Naming::Titled),
            None => {
                let values = texts(self.name, self.get("enum"))?.unwrap_or_default();
                match texts(self.name, self.get("enumNames"))? {
                    None => (untitled(values), Naming::Plain),
                    Some(names) if names.len() == values.len() => {
                        (values.into_iter().zip(names).collect(), Naming::EnumNames)
                    }
                    Some(_) => return Err(shape(self.name, "it has not as many enumNames as values")),
                }
            }
        };
        Ok(Choice {
            title: self.string("title")?,
            description: self.string("description")?,
            options,
            naming,
            default: self.string("default")?,
        })
    }

    fn choices(&mut self) -> Result<Choices, FormFault> {
        let items = self.get("items").and_then(Value::as_object);
        let items = items.ok_or_else(|| shape(self.name, "a list must say what can be chosen"))?;
        let others = items
            .keys()
            .any(|member| !["type", "enum", "anyOf"].contains(&member.as_str()));
        let of_texts = items.get("type").is_none_or(|kind| kind == "string");
        if others || !of_texts {
            return Err(shape(self.name, "a list can hold chosen texts only"));
        }
        let (options, naming) = match (items.get("anyOf"), items.get("enum")) {
            (Some(options), None) => (consts(self.name, options)?, Naming::Titled),
            (None, Some(values)) => (
                untitled(texts(self.name, Some(values))?.unwrap_or_default()),
                Naming::Plain,
            ),
            _ => {
                return Err(shape(
                    self.name,
                    "a list must say what can be chosen, by enum or by anyOf",
                ));
            }
        };
        let name = self.name;
        let default = self.get("default");
        Ok(Choices {
            title: self.string("title")?,
            description: self.string("description")?,
            options,
            naming,
            least: self.count("minItems")?,
            most: self.count("maxItems")?,
            default: texts(name, default)?,
        })
    }

    fn nothing_else(&self) -> Result<(), FormFault> {
        match self
            .members
            .keys()
            .find(|member| !self.seen.contains(&member.as_str()))
        {
            None => Ok(()),
            Some(other) => Err(shape(self.name, format!("such fields have no {other:?}"))),
        }
    }
}

fn untitled(values: Vec<String>) -> Vec<(String, String)> {
    values.into_iter().map(|value| (value, String::new())).collect()
}

fn texts(name: &str, list: Option<&Value>) -> Result<Option<Vec<String>>, FormFault> {
    let Some(list) = list else { return Ok(None) };
    list.as_array()
        .and_then(|items| {
            items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect()
        })
        .map(Some)
        .ok_or_else(|| shape(name, "a list of texts is something else"))
}

fn consts(name: &str, options: &Value) -> Result<Vec<(String, String)>, FormFault> {
    let read = |option: &Value| {
        let members = option.as_object().filter(|members| members.len() == 2)?;
        let value = members.get("const")?.as_str()?;
        Some((value.to_owned(), members.get("title")?.as_str()?.to_owned()))
    };
    options
        .as_array()
        .and_then(|items| items.iter().map(read).collect())
        .ok_or_else(|| {
            shape(
                name,
                "each option must have a const and a title, both texts, and nothing else",
            )
        })
}
